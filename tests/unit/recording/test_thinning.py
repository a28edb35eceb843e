"""However long the run, the recording stays small and keeps the low-water marks."""

import random

from hypothesis import given
from hypothesis import strategies as st

from lowwater.model import Sample
from lowwater.recording.thinning import SLOTS_PER_DOUBLING, LowWaterSlots, slot_width


def thinned(levels):
    slots, kept = LowWaterSlots(), []
    for ordinal, level in enumerate(levels):
        ready = slots.offer(Sample(0, ordinal, float(ordinal), {"level": level}), level)
        kept += [ready] if ready else []
    last = slots.flush()
    return [*kept, last] if last else kept


def test_a_short_run_is_kept_whole():
    assert len(thinned(range(200))) == 200


def test_a_million_boundaries_leave_under_two_thousand_samples():
    assert len(thinned(range(1_000_000))) < 2_000


def test_each_slot_keeps_its_lowest_mark():
    generator = random.Random(1)
    levels = [generator.randrange(1000) for _ in range(5000)]
    kept = {sample.ordinal: sample.gauges["level"] for sample in thinned(levels)}
    start = 4096
    width = slot_width(start)

    assert width > 1
    for first in range(start, 4800, width):
        slot = levels[first : first + width]
        assert [level for at, level in kept.items() if first <= at < first + width] == [min(slot)]


@given(st.lists(st.integers(0, 10**9), max_size=3000))
def test_the_lowest_mark_of_all_survives_and_order_is_kept(levels):
    kept = thinned(levels)

    assert [sample.ordinal for sample in kept] == sorted({sample.ordinal for sample in kept})
    if levels:
        assert min(sample.gauges["level"] for sample in kept) == min(levels)


def test_slots_widen_only_with_the_count():
    widths = [slot_width(ordinal) for ordinal in range(20 * SLOTS_PER_DOUBLING)]

    assert widths == sorted(widths)
    assert widths[2 * SLOTS_PER_DOUBLING - 1] == 1
