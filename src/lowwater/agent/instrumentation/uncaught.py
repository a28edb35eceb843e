"""The exception that ends the script: what to tell of it, and whether memory ran out."""

from collections.abc import Iterator
from typing import Final

from lowwater.model.interruption import let_through
from lowwater.model.printable import one_line
from lowwater.recording.records import Failed

_LONGEST: Final = 300
# Far enough for every message; a list of tensors may make one of megabytes.
_LONGEST_SEARCHED: Final = 100_000
_MOST_CAUSES: Final = 8
# The library, its class, and what has to stand in the message. No library is imported for it.
_OUT_OF_MEMORY: Final = (
    ("tensorflow", "ResourceExhaustedError", ""),
    # A copy to a device that finds no room there.
    ("tensorflow", "InternalError", "Dst tensor is not initialized"),
    ("torch", "OutOfMemoryError", ""),
    ("builtins", "RuntimeError", "DefaultCPUAllocator: can't allocate memory"),
    ("jaxlib", "XlaRuntimeError", "RESOURCE_EXHAUSTED"),
    ("jax", "JaxRuntimeError", "RESOURCE_EXHAUSTED"),
    ("jaxlib", "JaxRuntimeError", "RESOURCE_EXHAUSTED"),
)


def failure(error: BaseException | None) -> Failed | None:
    """What to record of it; None where the script ended as it was meant to, or was asked to."""
    # What is no Exception asks for the end: `sys.exit()`, Ctrl-C.
    if not isinstance(error, Exception):
        return None
    text = _text(error)
    told = one_line(f"{type(error).__name__}: {_telling_line(text)}".removesuffix(": "))
    return Failed(told[:_LONGEST], any(map(_is_out_of_memory, _with_causes(error))))


def _text(error: BaseException) -> str:
    """Its message; the program may have written the code that makes it."""
    try:
        return str(error)[:_LONGEST_SEARCHED]
    except Exception as another:  # noqa: BLE001 - whatever it raises, the program comes first
        let_through(another)
        return ""


def _telling_line(text: str) -> str:
    """The first line that is no heading and no line of a traceback, as TensorFlow puts first."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = (line for line in lines if not line.endswith(":") and not line.startswith('File "'))
    return next(telling, lines[0] if lines else "")


def _with_causes(error: BaseException) -> Iterator[BaseException]:
    one: BaseException | None = error
    for _ in range(_MOST_CAUSES):
        if one is None:
            return
        yield one
        one = one.__cause__


def _is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError):  # NumPy's own is one
        return True
    kinds = {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(error).__mro__}
    text = _text(error)
    return any((library, name) in kinds and word in text for library, name, word in _OUT_OF_MEMORY)
