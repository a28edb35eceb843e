"""What glibc's malloc has handed out, and what it keeps though it is free."""

import ctypes
import os
from collections.abc import Callable
from functools import cache
from typing import Any

from lowwater.model import NotMeasured, Reading
from lowwater.model.gauges import HEAP_FREE, HEAP_USED, MMAP_USED
from lowwater.model.interruption import let_through


class _MallInfo2(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
        ).split()
    )


class _DlInfo(ctypes.Structure):
    _fields_ = (
        ("dli_fname", ctypes.c_char_p),
        ("dli_fbase", ctypes.c_void_p),
        ("dli_sname", ctypes.c_char_p),
        ("dli_saddr", ctypes.c_void_p),
    )


class _Symbol(ctypes.Structure):
    """An entry of a symbol table, 64 bits; `section` is 0 where the symbol is only used."""

    _fields_ = (
        ("name", ctypes.c_uint32),
        ("kind", ctypes.c_uint8),
        ("other", ctypes.c_uint8),
        ("section", ctypes.c_uint16),
        ("value", ctypes.c_uint64),
        ("size", ctypes.c_uint64),
    )


class _Loaded(ctypes.Structure):
    """The beginning of what the loader tells of each file."""

    _fields_ = (("address", ctypes.c_void_p), ("name", ctypes.c_char_p))


_WITH_SYMBOL = 1  # RTLD_DL_SYMENT


@cache
def this_process() -> ctypes.CDLL:
    """All functions of this process, by name.

    Made once: each has a class of its own, 18 KB that only a collection takes away again.
    """
    return ctypes.CDLL(None)


def malloc_library() -> str | None:
    """The file that `malloc` resolves to in this process, `libc.so.6` for example."""
    try:
        file, is_defined_there = _owner(this_process().malloc)
        if not is_defined_there:
            # A program that is not position-independent, as Debian's Python, has a jump of its
            # own to `malloc`, which stands for it everywhere: the first library has the real one.
            file = next(filter(_defines_malloc, _libraries()), None)
    except (OSError, AttributeError) as error:
        let_through(error)
        return None
    return os.path.basename(file) if file else None


def _owner(function: Any) -> tuple[str | None, bool]:  # noqa: ANN401 - a function of ctypes
    """The file that an address lies in, and whether that file defines what is there."""
    info, symbol = _DlInfo(), ctypes.POINTER(_Symbol)()
    address = ctypes.cast(function, ctypes.c_void_p)
    found = this_process().dladdr1(address, ctypes.byref(info), ctypes.byref(symbol), _WITH_SYMBOL)
    if not found or not info.dli_fname or not info.dli_sname:
        return os.fsdecode(info.dli_fname) if found and info.dli_fname else None, True
    return os.fsdecode(info.dli_fname), symbol.contents.section != 0


def _defines_malloc(library: str) -> bool:
    try:
        loaded = ctypes.CDLL(library, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
        file, is_defined_there = _owner(loaded.malloc)
    except (OSError, AttributeError) as error:
        let_through(error)
        return False
    # What a library only uses is found in one that it needs.
    return (
        is_defined_there
        and file is not None
        and os.path.realpath(file) == os.path.realpath(library)
    )


def _libraries() -> list[str]:
    """All that are loaded, in the order in which symbols are looked for."""
    found: list[str] = []

    def take(one: Any, _size: int, _data: object) -> int:  # noqa: ANN401
        name = one.contents.name
        if name:
            found.append(os.fsdecode(name))
        return 0

    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Loaded), ctypes.c_size_t, ctypes.c_void_p)
    this_process().dl_iterate_phdr(kind(take), None)
    return found


def find_mallinfo2() -> Callable[[], _MallInfo2] | NotMeasured:
    """`mallinfo2`, unless it would speak of a heap that nobody uses."""
    library = malloc_library()
    if library is None or not library.startswith("libc.so"):
        return NotMeasured(
            f"malloc comes from {library or 'an unknown library'}; "
            "glibc's statistics do not cover it"
        )
    try:
        mallinfo2 = this_process().mallinfo2
    except AttributeError:
        return NotMeasured("this glibc has no mallinfo2 (added in 2.33)")
    mallinfo2.restype = _MallInfo2
    return mallinfo2


class GlibcProbe:
    """Reads `mallinfo2`: about 20 µs, more when the heap is full of holes."""

    name = "malloc"

    def __init__(self) -> None:
        """Look the function up once."""
        self._mallinfo2 = find_mallinfo2()

    def read(self) -> Reading | NotMeasured:
        """Bytes handed out from the heap and by mmap, and bytes kept free."""
        if isinstance(self._mallinfo2, NotMeasured):
            return self._mallinfo2
        info = self._mallinfo2()
        return Reading({HEAP_USED: info.uordblks, HEAP_FREE: info.fordblks, MMAP_USED: info.hblkhd})
