"""Keeps a recording small however long the run: fewer marks as it goes on, each the lowest."""

from lowwater.model import Sample

# Every boundary up to here; then this many slots for each doubling of the count.
# A million boundaries of one unit make 128 * (1 + 13) samples, about 200 kB.
SLOTS_PER_DOUBLING = 128


class LowWaterSlots:
    """Groups the samples of one unit into slots and lets through the lowest of each.

    Slots widen with the count: 1 boundary wide at first, then 2, 4, 8 …
    What is thrown away is never a low-water mark, so a trend in those survives thinning.
    """

    def __init__(self) -> None:
        """Begin with slots of one boundary."""
        self._slot = -1
        self._lowest: tuple[int, Sample] | None = None

    def offer(self, sample: Sample, level_bytes: int) -> Sample | None:
        """Take a sample; return one that is ready to be written, if any."""
        width = slot_width(sample.ordinal)
        slot = sample.ordinal // width
        if width == 1:
            return sample
        ready = None
        if slot != self._slot:
            ready, self._slot = self.flush(), slot
        if self._lowest is None or level_bytes < self._lowest[0]:
            self._lowest = (level_bytes, sample)
        return ready

    def flush(self) -> Sample | None:
        """The lowest sample of the unfinished slot, at the end of the run."""
        lowest, self._lowest = self._lowest, None
        return lowest[1] if lowest else None


def slot_width(ordinal: int) -> int:
    """How many boundaries share a slot at this point of the run."""
    return 1 << max(0, (ordinal // SLOTS_PER_DOUBLING).bit_length() - 1)
