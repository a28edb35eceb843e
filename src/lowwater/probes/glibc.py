"""What glibc's malloc has handed out, and what it keeps though it is free."""

import ctypes
from collections.abc import Callable
from pathlib import Path

from lowwater.gauges import HEAP_FREE, HEAP_USED, MMAP_USED
from lowwater.model import NotMeasured, Reading


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


def malloc_library() -> str | None:
    """The file that `malloc` resolves to in this process, `libc.so.6` for example."""
    try:
        process = ctypes.CDLL(None)
        info = _DlInfo()
        address = ctypes.cast(process.malloc, ctypes.c_void_p)
        found = process.dladdr(address, ctypes.byref(info))
    except (OSError, AttributeError):
        return None
    return Path(info.dli_fname.decode()).name if found and info.dli_fname else None


def find_mallinfo2() -> Callable[[], _MallInfo2] | NotMeasured:
    """`mallinfo2`, unless it would speak of a heap that nobody uses."""
    library = malloc_library()
    if library is None or not library.startswith("libc.so"):
        return NotMeasured(
            f"malloc comes from {library or 'an unknown library'}; "
            "glibc's statistics do not see what it hands out"
        )
    try:
        mallinfo2 = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return NotMeasured("this glibc has no mallinfo2 (it came with 2.33)")
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
