"""The errors by which libraries say that memory ran out, and what each says was asked for.

Read from the class and the message alone: no library is imported for it.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from lowwater.model.gauges import HOST
from lowwater.model.interruption import let_through
from lowwater.model.printable import one_line

LONGEST: Final = 300
# Far enough for every message; a list of tensors may make one of megabytes.
_LONGEST_SEARCHED: Final = 100_000
_MOST_CAUSES: Final = 8
# What a recording can hold; nobody has that much memory.
_MOST_BYTES: Final = 1 << 53
_MOST_DIMENSIONS: Final = 16
NO_ROOM_ON_DEVICE: Final = "Dst tensor is not initialized"
# The library, its class, and what has to stand in the message.
_OUT_OF_MEMORY: Final = (
    ("tensorflow", "ResourceExhaustedError", ""),
    # A copy to a device that finds no room there.
    ("tensorflow", "InternalError", NO_ROOM_ON_DEVICE),
    ("torch", "OutOfMemoryError", ""),
    ("builtins", "RuntimeError", "DefaultCPUAllocator: can't allocate memory"),
    ("jaxlib", "XlaRuntimeError", "RESOURCE_EXHAUSTED"),
    ("jax", "JaxRuntimeError", "RESOURCE_EXHAUSTED"),
    ("jaxlib", "JaxRuntimeError", "RESOURCE_EXHAUSTED"),
)

_SHAPE: Final = re.compile(
    r"(?:with shape ?|shaped? ?)[\[(]([\d, ]*)[\])](?:,? and (?:data )?type (\w+))?"
)
_DEVICE: Final = re.compile(r"device:(CPU|GPU|TPU|XPU):(\d+)|\bGPU (\d+)\b")
_ALLOCATOR: Final = re.compile(r"by allocator (\S+)")
_OP: Final = re.compile(r"\[Op:([^\]]+)\]|\{\{node ([^}]+)\}\}")
_BYTES: Final = re.compile(
    r"(?:[Aa]llocate|[Aa]llocating|[Aa]llocation of) (\d[\d,]*(?:\.\d+)?) ?"
    r"(bytes|B|[KMGTPE]i?B?)\b"
)
_FACTORS: Final = {
    "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50, "E": 1 << 60,
}  # fmt: skip
# What TensorFlow puts around its messages, and lines that say nothing.
# Also the colours that Keras gives to the message in the middle of its own.
_NOISE: Final = re.compile(r"\{\{function_node [^}]*\}\} |(?<=\]) name: *$|\x1b\[\d*m")
_NO_NEWS: Final = ('File "', "<stack traces unavailable>", "Exception encountered when calling ")
# What torch says of its own pool beside it.
_TORCH: Final = re.compile(
    r"total capacity of ([\d.]+ \w+) of which ([\d.]+ \w+) is free.*?"
    r"([\d.]+ \w+) is allocated by PyTorch.*?([\d.]+ \w+) is reserved by PyTorch but unallocated",
    re.DOTALL,
)
_SIZES: Final = {
    "bool": 1, "string": None, "half": 2, "float": 4, "double": 8, "complex": 8,
}  # fmt: skip
_BITS: Final = re.compile(r"[a-z]+?(\d+)(?:_\w+)?")


@dataclass(frozen=True, slots=True)
class PoolSays:
    """What an allocator says of itself in the message of its error."""

    limit_bytes: int
    in_use_bytes: int
    free_bytes: int


@dataclass(frozen=True, slots=True)
class AllocationRequest:
    """What was asked for when memory ran out; None for what the error does not say."""

    error: str
    size_bytes: int | None = None
    shape: tuple[int, ...] | None = None
    dtype: str | None = None
    operation: str | None = None
    allocator: str | None = None
    place: str = HOST
    where: str | None = None
    batch_size: int | None = None
    call: str | None = None


def is_out_of_memory(error: BaseException | None) -> bool:
    """Whether this error, or one that it was raised from, says that memory ran out."""
    return cause_in_memory(error) is not None


def cause_in_memory(error: BaseException | None) -> BaseException | None:
    """The error of that chain that says so."""
    return next(filter(_says_so, _with_causes(error)), None)


def request_of(error: BaseException) -> AllocationRequest:
    """What the error says of what was asked for."""
    text = text_of(error)
    size, shape, dtype = _of_numpy(error)
    if shape is None and (found := _SHAPE.search(text)) is not None:
        shape, dtype = _dimensions(found[1]), found[2]
    told = _told_bytes(text)
    size = size or (told if told is not None else _bytes_of(shape, dtype))
    operation = _OP.search(text)
    allocator = _ALLOCATOR.search(text)
    return AllocationRequest(
        line_of(error),
        None if size is None else min(size, _MOST_BYTES),
        shape,
        dtype,
        None if operation is None else one_line(operation[1] or operation[2])[:LONGEST],
        None if allocator is None else one_line(allocator[1])[:LONGEST],
        _place(text),
    )


def pool_says(error: BaseException) -> PoolSays | None:
    """What torch says of its pool on a GPU."""
    found = _TORCH.search(text_of(error))
    if found is None:
        return None
    capacity, free, allocated, reserved = (_sized(one) or 0 for one in found.groups())
    return PoolSays(capacity, allocated, free + reserved)


def line_of(error: BaseException) -> str:
    """Its type, and the line of its message that tells most."""
    line = telling_line(text_of(error))
    return one_line(f"{type(error).__name__}: {line}".removesuffix(": "))[:LONGEST]


def text_of(error: BaseException) -> str:
    """Its message; the program may have written the code that makes it."""
    try:
        return str(error)[:_LONGEST_SEARCHED]
    except Exception as another:  # noqa: BLE001 - whatever it raises, the program comes first
        let_through(another)
        return ""


def telling_line(text: str) -> str:
    """The first line that is no heading and no line of a traceback, as TensorFlow puts first."""
    lines = [line.strip() for line in _NOISE.sub("", text).splitlines() if line.strip()]
    telling = (line for line in lines if not line.endswith(":") and not line.startswith(_NO_NEWS))
    return next(telling, lines[0] if lines else "")


def _with_causes(error: BaseException | None) -> Iterator[BaseException]:
    one = error
    for _ in range(_MOST_CAUSES):
        if one is None:
            return
        yield one
        one = one.__cause__


def _says_so(error: BaseException) -> bool:
    if isinstance(error, MemoryError):  # NumPy's own is one
        return True
    kinds = {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(error).__mro__}
    known = [word for library, name, word in _OUT_OF_MEMORY if (library, name) in kinds]
    return bool(known) and any(word in text_of(error) for word in known)


def _of_numpy(error: BaseException) -> tuple[int | None, tuple[int, ...] | None, str | None]:
    """NumPy's error has the shape and the type as they are."""
    shape, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)
    size = getattr(dtype, "itemsize", None)
    if not isinstance(error, MemoryError) or not isinstance(shape, tuple):
        return None, None, None
    if not isinstance(size, int) or not all(isinstance(one, int) for one in shape):
        return None, None, None
    dimensions = tuple(min(one, _MOST_BYTES) for one in shape)[:_MOST_DIMENSIONS]
    return math.prod(shape) * size, dimensions, one_line(str(dtype))[:40]


def _dimensions(text: str) -> tuple[int, ...] | None:
    numbers = [part.strip() for part in text.split(",") if part.strip()]
    if not all(one.isdecimal() and len(one) <= 18 for one in numbers):  # noqa: PLR2004
        return None
    return tuple(min(int(one), _MOST_BYTES) for one in numbers)[:_MOST_DIMENSIONS]


def _bytes_of(shape: tuple[int, ...] | None, dtype: str | None) -> int | None:
    if shape is None or dtype is None:
        return None
    if dtype in _SIZES:
        size = _SIZES[dtype]
    else:
        bits = _BITS.fullmatch(dtype)
        size = max(1, int(bits[1]) // 8) if bits is not None and len(bits[1]) <= 3 else None  # noqa: PLR2004
    return None if size is None else math.prod(shape) * size


def _told_bytes(text: str) -> int | None:
    found = _BYTES.search(text)
    return None if found is None else _sized(f"{found[1]} {found[2] or ''}")


def _sized(text: str) -> int | None:
    number, _, unit = text.replace(",", "").strip().partition(" ")
    if len(number) > 24:  # noqa: PLR2004 - no amount of memory
        return None
    factor = _FACTORS.get(unit[:1].upper(), 1) if unit not in ("", "bytes", "B") else 1
    try:
        return int(number) * factor if number.isdecimal() else round(float(number) * factor)
    except ValueError:
        return None


def _place(text: str) -> str:
    found = _DEVICE.search(text)
    if found is None:
        return HOST
    kind, number = (found[1], found[2]) if found[1] else ("GPU", found[3])
    return HOST if kind == "CPU" else f"{kind}:{number}"


def as_plain(value: Any) -> Any:  # noqa: ANN401 - plain data of any kind
    """Numbers that a recording can hold."""
    return max(-_MOST_BYTES, min(_MOST_BYTES, value)) if type(value) is int else value
