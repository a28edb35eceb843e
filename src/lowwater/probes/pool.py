"""How large TensorFlow's host pool is, for TensorFlow tells only its peak.

The pool (BFC) takes regions from malloc, each twice as large as the one before, beginning with
2 MiB, and never gives one back. It is there with `TF_CPU_ALLOCATOR_USE_BFC=1`, and by default
wherever oneDNN is on (processors with AVX512-VNNI or AMX), for tensors of 256 KiB and more.
Measured there: a hundred tensors of 1 MiB made malloc grow by regions of 2, 4, 8, 16, 32 and
64 MiB; dropping them all gave nothing back. Regions of other sizes are in `region_sizes.py`. The
pool's own books come on top, with 8 bytes for each 256 of a region; they stay in use.
"""

from time import thread_time

from lowwater.probes.region_sizes import LEAST_REGION, MOST_IN_HEAP
from lowwater.probes.regions import PoolRegions

# A region is rounded up to pages, and other things are allocated in the same round trip.
_TOLERANCE = 64 << 10
# glibc maps every block of more than this on its own, however its threshold has moved.
_LARGEST_IN_HEAP = 32 << 20
# A look takes 3 ms; regions double, so a pool of a terabyte needs 20.
_MOST_LOOKS = 40
_LOOKS_TO_SPARE = 8


def doubled_regions(peak_bytes: int) -> tuple[int, int]:
    """The size and the last region of a pool that has doubled until this peak fitted in."""
    size = region = LEAST_REGION
    while size < peak_bytes:
        region *= 2
        size += region
    return size, region


class PoolSize:
    """Follows malloc and the pool's peak, and tells how large the pool must be.

    A jump of malloc may be a new region, or an array of the program. Where regions can be read,
    that decides. One that lies in the heap cannot be: then less is claimed to be free than is.
    """

    def __init__(self, regions: PoolRegions | None = None) -> None:
        """Nothing is known yet; with `regions` they are read, and not only guessed."""
        self._regions = regions
        self._read = 0
        self._size = 0
        self._peak = 0
        self._malloc = 0
        self._heap = 0
        self._last_region = 0
        self._times_seen = 0
        self._limit: int | None = None
        # By how much the peak has passed the size that was known, in all and up to the last look.
        self._missed = 0
        self._looked_for = 0
        self._looks = 0
        # What reading the regions has cost.
        self.looking_s = 0.0

    def add(
        self, heap_bytes: int, mapped_bytes: int, peak_bytes: int, limit_bytes: int | None = None
    ) -> int:
        """Take the next reading; return the size of the pool by now."""
        malloc_bytes = heap_bytes + mapped_bytes
        self._limit = limit_bytes
        if self._size == 0 and peak_bytes:
            self._begin(peak_bytes)
        elif peak_bytes > self._peak or self._has_looks_to_spare:
            self._missed += max(0, peak_bytes - self._size)
            self._size += self._grown(malloc_bytes - self._malloc, heap_bytes - self._heap)
        most = self._size if limit_bytes is None else limit_bytes
        self._size = max(min(self._size, most), peak_bytes)
        self._peak = max(self._peak, peak_bytes)
        self._malloc, self._heap = malloc_bytes, heap_bytes
        return self._size

    @property
    def _has_looks_to_spare(self) -> bool:
        """A pool full of holes may grow without a new peak: that can be seen, and not guessed."""
        return self._regions is not None and 0 < self._looks < _LOOKS_TO_SPARE

    @property
    def _has_missed_a_region(self) -> bool:
        """Whether the peak is larger than the pool that was known, for whatever reason.

        Regions in the heap cannot be read; so as not to look for them again and again, the next
        look waits until twice as much is missing.
        """
        return self._missed > 2 * self._looked_for

    def _begin(self, peak_bytes: int) -> None:
        self._size, self._last_region = doubled_regions(peak_bytes)
        read = self._look()
        if read is None:
            return
        if read + MOST_IN_HEAP < peak_bytes:  # this malloc has other headers
            self._regions = None
            return
        # Where some are read, smaller ones in the heap are left out: less is claimed then.
        self._read, self._size = read, read or self._size

    def _grown(self, jump_bytes: int, heap_jump_bytes: int) -> int:
        """By how much the pool has grown while malloc grew by so much.

        Where some regions can be read, none is guessed: each model of a loop makes the heap grow
        by as much as a region, and what is taken for one is taken out of the bytes in use.
        """
        region = self._new_region(jump_bytes)
        if not region and not self._has_missed_a_region:
            return 0
        read = self._look()
        if read is None:
            return self._if_not_repeated(region) if region else 0
        grown, self._read = read - self._read, read
        is_in_heap = 0 < region <= min(heap_jump_bytes + _TOLERANCE, _LARGEST_IN_HEAP)
        return self._if_not_repeated(region) if is_in_heap and not read else grown

    def _look(self) -> int | None:
        """All regions that can be read; None where they cannot, or were looked for too often."""
        if self._regions is None or self._looks >= _MOST_LOOKS:
            return None
        self._looks += 1
        self._looked_for = self._missed
        began_s = thread_time()
        found = self._regions.total_bytes(self._limit)
        self.looking_s += thread_time() - began_s
        self._last_region = self._regions.largest_bytes or self._last_region
        return found

    def _new_region(self, jump_bytes: int) -> int:
        """The region that explains a jump of malloc, if one does."""
        left = self._left_of_limit()
        if left and left <= jump_bytes + _TOLERANCE:
            return left
        region = LEAST_REGION
        while 2 * region <= jump_bytes + _TOLERANCE:
            region *= 2
        is_too_small = region > jump_bytes + _TOLERANCE or region < self._last_region
        return 0 if is_too_small else region

    def _left_of_limit(self) -> int:
        """The size of the last region before the limit, where the pool cannot double any more."""
        left = (self._limit or 0) - self._size
        return left if LEAST_REGION <= left < 2 * self._last_region else 0

    def _if_not_repeated(self, region: int) -> int:
        # Regions double: the same size again and again is the program's own arrays.
        self._times_seen = self._times_seen + 1 if region == self._last_region else 1
        self._last_region = region
        return region if self._times_seen <= 2 else 0  # noqa: PLR2004 - a large request repeats one


class Untouched:
    """Estimates what malloc has handed out and nobody has written to, where no pool tells.

    A graph-mode (v1) program has the same pool, and no statistics of it. But a new region is not
    resident until tensors are put into it, so what is missing from resident memory is free.
    """

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._usual: int | None = None

    def add(self, malloc_bytes: int, resident_bytes: int) -> int:
        """Take the next reading; return the bytes that are not resident, beyond the usual."""
        missing = malloc_bytes - resident_bytes
        # Stacks and small objects of Python are resident too, so this is far below zero.
        self._usual = missing if self._usual is None else min(self._usual, missing)
        return missing - self._usual
