"""The regions of TensorFlow's host pool, read from the headers that glibc puts before them.

glibc maps a large block on its own: it begins at a page, with its size and a flag that says so. The
pool asks for aligned blocks of a power of two, and then the first 48 bytes are left free and a
second header follows, which says that. Nothing else in a program looks like it: 16 MiB arrays of
NumPy have one header only. Measured with TensorFlow 2.21 after a hundred tensors of 1 MiB and one
of 400 MB: regions of 4, 8, 16, 32, 64, 512, 512 and 1024 MiB, and the first, of 2 MiB, in the heap.
"""

import os
import re
import struct
from collections.abc import Iterator
from functools import partial

# By our own names: tests and fake file systems replace those of `os` while the program runs.
from os import O_CLOEXEC, O_RDONLY
from os import close as _close
from os import open as _open
from os import pread as _pread
from os import read as _read
from typing import Final

from lowwater.model.interruption import let_through
from lowwater.probes.headroom import soft_limit
from lowwater.probes.region_sizes import LEAST_REGION, is_doubled, regions_among

_MAPPED: Final = re.compile(rb"^([0-9a-f]+)-([0-9a-f]+) rw-p 0+ 00:00 0 *$", re.MULTILINE)
_HEADERS: Final = struct.Struct("<QQ32xQQ")
_LEAD: Final = 48
_FLAGS: Final = 7
_IS_MAPPED: Final = 2
# CPython maps its own memory in pieces of this size, and blocks may lie behind them. To look at
# every page found no more, and took 200 ms in place of 3.
_ARENA: Final = 1 << 20
# Of a program with 8 GiB of small objects some regions may be missed.
_MOST_STEPS: Final = 8192


class PoolRegions:
    """Looks for the regions in all memory that is mapped and no file's."""

    def __init__(self, maps: str = "/proc/self/maps", memory: str = "/proc/self/mem") -> None:
        """Read from these files, which a test may replace."""
        self._maps = maps
        self._memory = memory
        self._page = os.sysconf("SC_PAGE_SIZE")
        self._found: dict[int, int] = {}
        self._regions: list[int] = []
        self._steps_left = 0

    def total_bytes(self, limit_bytes: int | None = None) -> int | None:
        """The size of all regions that lie apart from the heap; None where it cannot be read.

        `limit_bytes` is the most that the pool may take, where that is known.
        """
        try:
            ranges = self._ranges()
            memory = _open(self._memory, O_RDONLY | O_CLOEXEC)
        except OSError as error:
            let_through(error)
            return None
        try:
            # What was found once is not lost behind other mappings, unless it was given back.
            self._found = dict(filter(partial(self._is_there, memory), self._found.items()))
            self._steps_left = _MOST_STEPS
            is_cramped = soft_limit("RLIMIT_AS") is not None
            is_bounded = is_cramped or limit_bytes is not None
            for start, end in ranges:
                for address, size in self._aligned(memory, start, end):
                    if is_bounded or is_doubled(size):
                        self._found[address] = size
        finally:
            _close(memory)
        self._regions = regions_among(self._found.values(), limit_bytes, may_be_refused=is_cramped)
        return sum(self._regions)

    @property
    def largest_bytes(self) -> int:
        """The size of the largest region that was found."""
        return max(self._regions, default=0)

    def _is_there(self, memory: int, region: tuple[int, int]) -> bool:
        address, size = region
        return self._block(memory, address) == (size + self._page, True)

    def _aligned(self, memory: int, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The address and the size of each aligned block within a range."""
        while end - start >= LEAST_REGION and self._steps_left:
            self._steps_left -= 1
            size, is_aligned = self._block(memory, start)
            is_within = 0 < size <= end - start
            # The headers take a page.
            if is_within and is_aligned:
                yield start, size - self._page
            start += size if is_within else _ARENA

    def _block(self, memory: int, address: int) -> tuple[int, bool]:
        """The size of the block that begins here, and whether it is aligned; 0 where none does."""
        try:
            before, head, lead, inner = _HEADERS.unpack(_pread(memory, _HEADERS.size, address))
        except (OSError, struct.error) as error:  # another thread has just given it back
            let_through(error)
            return 0, False
        size = head & ~_FLAGS
        if before or head & _FLAGS != _IS_MAPPED or size % self._page:
            return 0, False
        return size, lead == _LEAD and inner == head - _LEAD

    def _ranges(self) -> list[tuple[int, int]]:
        text, descriptor = b"", _open(self._maps, O_RDONLY | O_CLOEXEC)
        try:
            while part := _read(descriptor, 1 << 16):
                text += part
        finally:
            _close(descriptor)
        return [(int(start, 16), int(end, 16)) for start, end in _MAPPED.findall(text)]
