"""What tcmalloc has handed out, where it was preloaded in place of glibc's malloc."""

import ctypes
from typing import Any

from lowwater.model import NotMeasured, Reading
from lowwater.model.gauges import HEAP_FREE, HEAP_USED, MMAP_USED


class TcmallocProbe:
    """Reads the properties that gperftools offers to C: about 20 µs."""

    name = "malloc"

    def __init__(self, process: Any = None) -> None:  # noqa: ANN401 - a ctypes library, or a fake
        """Look the function up in the running process."""
        name = "MallocExtension_GetNumericProperty"
        self._property = getattr(process or ctypes.CDLL(None), name, None)

    def read(self) -> Reading | NotMeasured:
        """Bytes handed out, and bytes kept free that were not returned to the system."""
        used = self._number(b"generic.current_allocated_bytes")
        heap = self._number(b"generic.heap_size")
        if used is None or heap is None:
            return NotMeasured("this tcmalloc does not report statistics")
        returned = self._number(b"tcmalloc.pageheap_unmapped_bytes") or 0
        free = max(0, heap - returned - used)
        return Reading({HEAP_USED: used, HEAP_FREE: free, MMAP_USED: 0})

    def _number(self, name: bytes) -> int | None:
        if self._property is None:
            return None
        value = ctypes.c_size_t()
        return value.value if self._property(name, ctypes.byref(value)) else None
