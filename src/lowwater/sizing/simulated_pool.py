"""TensorFlow's pool as arithmetic: what it gives out when it is asked for a size.

The pool takes whole regions from the system, each twice as large as the last. Whoever asks gets the
smallest free chunk that is large enough; what is left of the chunk stays free only if it is as
large as what was asked for, or very large. Free neighbours become one chunk. So it gives out up to
twice of what it is asked for, and how much depends on all that went before.
"""

from bisect import bisect_left, insort

# Bytes, all as in TensorFlow's allocator "BFC".
_LEAST = 256
_FIRST_REGION = 2 << 20
_MOST_LEFT = 128 << 20
# Regions do not touch each other.
_BETWEEN_REGIONS = 1 << 50


class Chunk:
    """A part of a region, free or given out, and its neighbours."""

    __slots__ = ("address", "after", "before", "is_free", "size")

    def __init__(self, address: int, size: int) -> None:
        """Alone in its region, and free."""
        self.address = address
        self.size = size
        self.before: Chunk | None = None
        self.after: Chunk | None = None
        self.is_free = True


class SimulatedPool:
    """A pool, with the most that it may take from the system.

    `in_use_bytes` and `peak_bytes` are what it gives out beside what it had given out before.
    """

    def __init__(self, limit_bytes: int | None = None, before_bytes: int = 0) -> None:
        """It has taken as many regions as that needed, and takes more when it is asked."""
        self._limit = limit_bytes
        self._taken = 0
        self._regions = 0
        self._next_region = _FIRST_REGION
        # By size, then address: the first that is large enough is the one that TensorFlow finds.
        self._free: list[tuple[int, int]] = []
        self._chunks: dict[int, Chunk] = {}
        self.in_use_bytes = 0
        self.peak_bytes = 0
        self._give_out_before(before_bytes)

    def allocate(self, size_bytes: int) -> Chunk:
        """The chunk that is given out; MemoryError where there is none."""
        rounded = max(_LEAST, -(-size_bytes // _LEAST) * _LEAST)
        found = bisect_left(self._free, (rounded, -1))
        if found < len(self._free):
            chunk = self._chunks[self._free[found][1]]
            self._take(chunk)
        else:
            chunk = self._region_for(rounded)
        left = chunk.size - rounded
        if left >= rounded or left >= _MOST_LEFT:
            self._split(chunk, rounded)
        chunk.is_free = False
        self.in_use_bytes += chunk.size
        self.peak_bytes = max(self.peak_bytes, self.in_use_bytes)
        return chunk

    def give_back(self, chunk: Chunk) -> None:
        """It becomes free, as one with its free neighbours."""
        self.in_use_bytes -= chunk.size
        if chunk.after is not None and chunk.after.is_free:
            self._take(chunk.after)
            _join(chunk, chunk.after)
        if chunk.before is not None and chunk.before.is_free:
            chunk, gone = chunk.before, chunk
            self._take(chunk)
            _join(chunk, gone)
        self._put(chunk)

    def _give_out_before(self, before_bytes: int) -> None:
        """All of the regions but for the rest of the largest.

        Where what was there before lies is not known. Real pools have filled the small gaps: of
        three ways to say so, this one missed the peaks of twelve models least.
        """
        regions = list[Chunk]()
        while self._taken < before_bytes:
            regions.append(self._region_for(_LEAST))
        left = self._taken - before_bytes
        for region in reversed(regions):
            region.size = min(left, region.size) // _LEAST * _LEAST
            left -= region.size
            if region.size:
                self._put(region)

    def _region_for(self, rounded: int) -> Chunk:
        left = rounded if self._limit is None else self._limit - self._taken
        left = left // _LEAST * _LEAST
        if rounded > left:
            raise MemoryError
        is_doubled = rounded > self._next_region
        while rounded > self._next_region:
            self._next_region *= 2
        size = self._next_region if self._limit is None else min(self._next_region, left)
        if not is_doubled:
            self._next_region *= 2
        self._taken += size
        self._regions += 1
        return Chunk(self._regions * _BETWEEN_REGIONS, size)

    def _split(self, chunk: Chunk, size: int) -> None:
        rest = Chunk(chunk.address + size, chunk.size - size)
        rest.before, rest.after = chunk, chunk.after
        if chunk.after is not None:
            chunk.after.before = rest
        chunk.after, chunk.size = rest, size
        self._put(rest)

    def _put(self, chunk: Chunk) -> None:
        chunk.is_free = True
        self._chunks[chunk.address] = chunk
        insort(self._free, (chunk.size, chunk.address))

    def _take(self, chunk: Chunk) -> None:
        chunk.is_free = False
        del self._chunks[chunk.address]
        del self._free[bisect_left(self._free, (chunk.size, chunk.address))]


def _join(chunk: Chunk, after: Chunk) -> None:
    chunk.size += after.size
    chunk.after = after.after
    if after.after is not None:
        after.after.before = chunk
