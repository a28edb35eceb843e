"""The ledger knows the start, the end and the peak of a run, which no boundary has seen."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lowwater.model import Ending, Moment, OutsideSample, Timeline, gauges
from lowwater.testing import a_run
from lowwater.verdict import book, judge

MIB = 1 << 20
# The same examples on every run: a red build must mean a change, not bad luck.
repeatably = settings(derandomize=True, deadline=None, max_examples=200)


def moment(name, elapsed_s, mib):
    """A program of which malloc has handed out so much, and all of it is resident."""
    seen = {gauges.HEAP_USED: mib * MIB, gauges.RSS_ANON: (mib + 5) * MIB}
    return Moment(name, elapsed_s, {**seen, gauges.RSS_FILE: 100 * MIB, gauges.RSS_SHMEM: 0})


START, LAST, EXIT = (
    moment("start", 0.0, 10),
    moment("last statement", 70.0, 3000),
    moment("exit", 71.0, 2000),
)


def rows_of(timeline):
    unit = timeline.units[0] if timeline.units else None
    return {row.name: row for row in book(timeline, unit).rows}


def of(row):
    return tuple(size // MIB for size in (row.first_bytes, row.highest_bytes, row.last_bytes))


def test_a_run_is_booked_from_its_start_to_its_exit():
    timeline = replace(a_run(12).timeline(), moments=(START, LAST, EXIT))

    rows = rows_of(timeline)

    assert of(rows["malloc, in use"]) == (10, 3000, 2000)
    assert of(rows["resident, anonymous"]) == (15, 3005, 2005)
    assert of(rows["resident, in all"]) == (115, 3105, 2105)
    assert len(rows["malloc, in use"].series) == 12


def test_moments_are_never_judged():
    flat = a_run(12).timeline()

    assert judge(replace(flat, moments=(START, LAST, EXIT))) == judge(flat)


def test_a_run_without_boundaries_is_booked_all_the_same():
    rows = rows_of(Timeline(moments=(START, LAST, EXIT)))

    assert of(rows["malloc, in use"]) == (10, 3000, 2000)


def test_a_recording_without_moments_is_booked_at_its_boundaries():
    used = rows_of(a_run(12).grows(mib=4).timeline())["malloc, in use"]

    assert of(used) == (154, 198, 198)


@pytest.mark.parametrize("seen_by", ["kernel", "program"])
def test_no_peak_is_below_what_was_seen_from_outside(seen_by):
    peak = {gauges.RSS_PEAK: 9000 * MIB} if seen_by == "program" else {}
    ending = Ending(72.0, 0, peak_rss_bytes=9000 * MIB if seen_by == "kernel" else None)
    exit_ = replace(EXIT, gauges={**EXIT.gauges, **peak})
    timeline = replace(a_run(12).timeline(), moments=(START, exit_), ending=ending)

    rows = rows_of(timeline)

    assert rows["resident, in all"].highest_bytes == 9000 * MIB
    # 300 MiB of mapped files were seen: the rest of the peak was anonymous.
    assert rows["resident, anonymous"].highest_bytes == 8700 * MIB


def killed(anon_mib):
    looks = (OutsideSample(30.0, 100 * MIB), OutsideSample(70.0, anon_mib * MIB))
    ending = Ending(71.0, None, signal=9, peak_rss_bytes=8000 * MIB)
    return replace(a_run(12).timeline(), moments=(START,), outside=looks, ending=ending)


def test_of_a_killed_program_the_last_look_from_outside_counts():
    rows = rows_of(killed(anon_mib=7000))

    assert rows["resident, anonymous"].last_bytes == 7000 * MIB
    assert "after the last sample inside" in rows["remainder"].remark
    allocators = [row.last_bytes for row in rows.values() if row.layer == "allocator"]
    assert sum(allocators) == 7000 * MIB


def test_of_a_program_that_had_its_last_word_looks_from_outside_are_not_the_end():
    timeline = killed(anon_mib=7000)
    rows = rows_of(replace(timeline, moments=(START, replace(EXIT, elapsed_s=69.9))))

    assert rows["resident, anonymous"].last_bytes == 2005 * MIB
    assert rows["resident, anonymous"].highest_bytes >= 7000 * MIB


sizes = st.integers(0, 1 << 42)
names = st.sampled_from(
    [
        gauges.RSS_FILE,
        gauges.HEAP_FREE,
        gauges.MMAP_USED,
        gauges.PYTHON_BLOCKS,
        gauges.POOL_SIZE,
        gauges.POOL_IN_USE,
        gauges.RESULTS_MAPPED,
    ]
)
required = st.fixed_dictionaries({gauges.RSS_ANON: sizes, gauges.HEAP_USED: sizes})
readings = st.builds(dict.__or__, required, st.dictionaries(names, sizes))


@repeatably
@given(st.lists(readings, min_size=1, max_size=5), st.lists(sizes, max_size=3))
def test_the_ledger_adds_up_whatever_the_probes_say(found, looks):
    moments = [Moment("start", float(at), seen) for at, seen in enumerate(found)]
    outside = [OutsideSample(float(at), size) for at, size in enumerate(looks)]

    rows = book(Timeline(moments=tuple(moments), outside=tuple(outside)), None).rows

    results = "results of isolated calls, shared"
    held = [row for row in rows if row.layer == "allocator" and row.name != results]
    resident = next(row for row in rows if row.name == "resident, anonymous")
    assert sum(row.first_bytes for row in held) == resident.first_bytes
    assert sum(row.last_bytes for row in held) == resident.last_bytes
    for row in held:
        assert row.highest_bytes <= resident.highest_bytes
        assert min(row.first_bytes, row.last_bytes, *row.series) >= 0


@repeatably
@given(readings)
def test_what_the_allocators_count_is_resident_or_said_to_be_absent(seen):
    parts = gauges.resident_parts(seen)

    claimed = gauges.python_bytes(seen) + sum(
        seen.get(name, 0) for name in (gauges.HEAP_USED, gauges.MMAP_USED, gauges.HEAP_FREE)
    )
    assert sum(parts) - parts.absent == seen[gauges.RSS_ANON]
    assert claimed == sum(parts) - parts.rest
    assert gauges.pool_free_bytes(seen) <= claimed
    assert gauges.in_use_bytes(seen) >= 0


def test_what_is_kept_is_resident_and_not_in_use():
    """A pool of 2 GiB, of which 1.1 GiB is resident with 330 MiB that malloc has in use."""
    seen = {
        gauges.RSS_ANON: 1100 * MIB,
        gauges.HEAP_USED: 330 * MIB,
        gauges.MMAP_USED: 2048 * MIB,
        gauges.POOL_SIZE: 2048 * MIB,
        gauges.POOL_IN_USE: 0,
    }

    assert gauges.kept_bytes(seen) == (1100 - 330) * MIB
    assert gauges.in_use_bytes(seen) == 330 * MIB
