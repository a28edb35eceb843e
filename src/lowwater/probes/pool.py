"""How large TensorFlow's host pool is: an estimate, for TensorFlow tells only its peak.

The pool (BFC) takes regions from malloc, each twice as large as the one before, beginning with
2 MiB, and never gives one back. It is there with `TF_CPU_ALLOCATOR_USE_BFC=1`, and by default
wherever oneDNN is on (processors with AVX512-VNNI or AMX), for tensors of 256 KiB and more.
Measured there: a hundred tensors of 1 MiB made malloc grow by regions of 2, 4, 8, 16, 32 and
64 MiB; dropping them all gave nothing back.
"""

_FIRST_REGION = 2 << 20
# A region is rounded up to pages, and other things are allocated in the same round trip.
_TOLERANCE = 64 << 10


def doubled_regions(peak_bytes: int) -> tuple[int, int]:
    """The size and the last region of a pool that has doubled until this peak fitted in."""
    size = region = _FIRST_REGION
    while size < peak_bytes:
        region *= 2
        size += region
    return size, region


class PoolSize:
    """Follows malloc and the pool's peak, and tells when a jump of malloc was a new region."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._size = 0
        self._peak = 0
        self._malloc = 0
        self._last_region = 0
        self._times_seen = 0

    def add(self, malloc_bytes: int, peak_bytes: int) -> int:
        """Take the next reading; return the size of the pool by now."""
        if self._size == 0 and peak_bytes:
            self._size, self._last_region = doubled_regions(peak_bytes)
        elif peak_bytes > self._peak:
            self._size += self._new_region(malloc_bytes - self._malloc)
        self._size = max(self._size, peak_bytes)
        self._peak = max(self._peak, peak_bytes)
        self._malloc = malloc_bytes
        return self._size

    def _new_region(self, jump_bytes: int) -> int:
        """The region that explains a jump of malloc, if one does."""
        region = _FIRST_REGION
        while 2 * region <= jump_bytes + _TOLERANCE:
            region *= 2
        if region > jump_bytes + _TOLERANCE or region < self._last_region:
            return 0
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
