"""What jemalloc has handed out, where it was preloaded in place of glibc's malloc."""

import ctypes
from typing import Any

from lowwater.model import NotMeasured, Reading
from lowwater.model.gauges import HEAP_FREE, HEAP_USED, MMAP_USED


class JemallocProbe:
    """Reads `mallctl`: about 50 µs, for its statistics have to be brought up to date."""

    name = "malloc"

    def __init__(self, process: Any = None) -> None:  # noqa: ANN401 - a ctypes library, or a fake
        """Look the function up in the running process."""
        self._mallctl: Any = getattr(process or ctypes.CDLL(None), "mallctl", None)

    def read(self) -> Reading | NotMeasured:
        """Bytes handed out, and resident bytes that are kept free."""
        if self._mallctl is None:
            return NotMeasured("this jemalloc was built without mallctl")
        self._refresh()
        allocated, resident = self._number(b"stats.allocated"), self._number(b"stats.resident")
        if allocated is None or resident is None:
            return NotMeasured("this jemalloc was built without statistics")
        free = max(0, resident - allocated)
        return Reading({HEAP_USED: allocated, HEAP_FREE: free, MMAP_USED: 0})

    def _refresh(self) -> None:
        epoch, size = ctypes.c_uint64(1), ctypes.c_size_t(8)
        self._mallctl(b"epoch", ctypes.byref(epoch), ctypes.byref(size), ctypes.byref(epoch), size)

    def _number(self, name: bytes) -> int | None:
        value, size = ctypes.c_size_t(), ctypes.c_size_t(ctypes.sizeof(ctypes.c_size_t))
        failed = self._mallctl(
            name, ctypes.byref(value), ctypes.byref(size), None, ctypes.c_size_t(0)
        )
        return None if failed else value.value
