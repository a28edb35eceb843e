"""Reads what memray wrote, after the run: which lines allocated what was not freed."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from heapq import nlargest
from typing import Any, NamedTuple

from lowwater.agent.native_trace.tracer import SUFFIX, checksum
from lowwater.errors import UserError
from lowwater.model import NativeSite
from lowwater.recording.reader import Follower
from lowwater.recording.records import NativeSites, NativeTraced, Noted, Record
from lowwater.recording.writer import append_after_end

# Of these the stacks are looked up, which takes seconds in a library of TensorFlow's size.
MOST_RECORDS = 50
MOST_SITES = 20
_MOST_NAME = 80
_DEEPEST = 1000
# Functions that only pass a request on to the allocator, …
_ALLOCATORS = re.compile(
    r"<unknown>|(m|c|re|v|pv)alloc\b|\w*memalign|aligned_alloc|operator new|std::|__gnu_cxx::"
    r"|absl::|tsl::port::|_?PyObject_\w*alloc|_?PyMem_|_PyBytes_FromSize|PyDataMem_|npy_alloc"
)
# … and those that Python enters native code through: what comes before has no name.
_ENTRANCES = re.compile(r"_?Py(Eval|Object|Vectorcall|CFuncPtr)_|ffi_|_call_function|_ctypes_")


class Frame(NamedTuple):
    """One line of a stack, as memray tells it."""

    function: str
    filename: str
    line: int


def add_sites(recording: str, elapsed_us: int) -> str | None:
    """Read the trace beside a recording, if the agent made one; add what it tells; remove it."""
    path = recording + SUFFIX
    traced = _traced(recording) if os.path.isfile(path) else None
    if traced is None:
        return None
    try:
        return append_after_end(recording, [_read(path, traced, elapsed_us)])
    finally:
        with suppress(OSError):
            os.unlink(path)


def sites_of(records: Iterable[Any], files: Mapping[int, str]) -> tuple[NativeSite, ...]:
    """The largest sites of what was not freed; `files` are the program's own, by checksum."""
    sizes: Counter[tuple[str | None, str, str]] = Counter()
    for record in nlargest(MOST_RECORDS, records, key=lambda one: one.size):
        # Without a limit memray leaves out what was running when it was started: the loop.
        stack = _frames(record.stack_trace(max_stacks=_DEEPEST))
        native = _native_name(_frames(record.native_stack_trace(max_stacks=_DEEPEST)))
        sizes[*_python_site(stack, files), native] += record.size
    return tuple(NativeSite(*site, size) for site, size in sizes.most_common(MOST_SITES))


def _traced(recording: str) -> NativeTraced | None:
    """What the agent says of its trace: the last word of it counts."""
    try:
        found = [one for one in Follower(recording).new_records() if isinstance(one, NativeTraced)]
    except UserError:
        return None
    return found[-1] if found else None


def _read(path: str, traced: NativeTraced, elapsed_us: int) -> Record:
    """What to add; of a trace that was cut off, nothing is known."""
    if not traced.rounds:
        return NativeSites([])
    try:
        return NativeSites([*_sites_in(path, traced.files)])
    except Exception as error:  # noqa: BLE001 - memray's own errors are of many kinds
        why = f"{type(error).__name__}: {error}"
        return Noted(elapsed_us, f"the output of memray could not be read: {why}")


def _sites_in(path: str, files: Mapping[int, str]) -> tuple[NativeSite, ...]:
    from memray import AllocatorType, FileReader

    with closing(FileReader(path)) as reader:
        kept = reader.get_leaked_allocation_records(merge_threads=True)
        # Memory in use is malloc's: what is mapped beside it is not in the sum.
        return sites_of((one for one in kept if one.allocator != AllocatorType.MMAP), files)


def _frames(stack: Iterable[tuple[str, str, int]]) -> list[Frame]:
    return [Frame(*frame) for frame in stack]


def _python_site(stack: list[Frame], files: Mapping[int, str]) -> tuple[str | None, str]:
    """The program's line and function; without one, the innermost function of a library."""
    for frame in stack:
        shown = files.get(checksum(frame.filename))
        if shown is not None:
            return f"{shown}:{frame.line}", frame.function
    if not stack:
        return None, ""
    # A whole path tells whose machine it was.
    file = "/".join(stack[0].filename.split("/")[-2:])
    return None, f"{stack[0].function} ({file})"


def _native_name(stack: list[Frame]) -> str:
    """The function that wanted the memory; empty where it has no name."""
    functions = (frame.function for frame in stack)
    wanted = next((name for name in functions if not _ALLOCATORS.match(name)), "")
    return "" if _ENTRANCES.match(wanted) else _short(wanted)


def _short(name: str) -> str:
    """A C++ name without template arguments and parameters."""
    plain = name.replace("(anonymous namespace)::", "")
    while (shorter := re.sub(r"<[^<>]*>", "", plain)) != plain:
        plain = shorter
    return plain.partition("(")[0][:_MOST_NAME] or name[:_MOST_NAME]
