"""The builders tell the stories that their names promise."""

import doctest

import pytest

import lowwater.testing
from lowwater.model import NotMeasured, Reading
from lowwater.model.gauges import HEAP_USED, RSS_ANON, in_use_bytes
from lowwater.testing import FakeProbe, a_run, together

MIB = 1 << 20


def levels(run, gauge=HEAP_USED):
    return [sample.gauges[gauge] / MIB - 100 for sample in run.timeline().samples]


def test_the_documented_example_runs():
    assert doctest.testmod(lowwater.testing).failed == 0


def test_a_run_has_one_sample_per_round_on_its_clock():
    samples = a_run(4, start_s=10, seconds=8).timeline().samples

    assert [(one.ordinal, one.elapsed_s) for one in samples] == [(1, 12), (2, 14), (3, 16), (4, 18)]


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (a_run(4).grows(mib=2), [2, 4, 6, 8]),
        (a_run(4).grows(mib=2, since=1, until=3), [0, 2, 4, 4]),
        (a_run(4).fills(mib=6, until=2), [3, 6, 6, 6]),
        (a_run(4).jumps(mib=5, at=3), [0, 0, 5, 5]),
        (a_run(4).spikes(mib=5, at=3), [0, 0, 5, 0]),
        (a_run(4).swings(mib=5, every=2), [5, 0, 5, 0]),
        (a_run(4).leaves_garbage(mib=3).collects([2]), [3, 6, 3, 6]),
        (a_run(4).holds(HEAP_USED, mib=130), [30, 30, 30, 30]),
        (a_run(2).grows(mib=1).measured_at_start(), [0, 1, 2]),
    ],
)
def test_a_story_becomes_samples(run, expected):
    assert levels(run) == expected


def test_noise_is_the_same_for_the_same_seed_only():
    one, same, other = (levels(a_run(5).noise(mib=5, seed=seed)) for seed in (1, 1, 2))

    assert one == same != other
    assert all(abs(level) <= 5 for level in one)


def test_a_collection_has_the_bytes_before_and_after():
    timeline = a_run(4).leaves_garbage(mib=3).collects([2]).timeline()

    [collection] = timeline.collections

    assert collection.freed_bytes == 6 * MIB
    assert collection.before_bytes == in_use_bytes(timeline.samples[1].gauges)


def test_resident_memory_follows_what_is_used():
    samples = a_run(2).grows(mib=4).timeline().samples

    assert samples[1].gauges[RSS_ANON] - samples[0].gauges[RSS_ANON] == 4 * MIB


def test_what_a_run_lacks_is_not_in_its_samples():
    assert HEAP_USED not in a_run(2).lacks(HEAP_USED).timeline().samples[0].gauges


def test_a_long_run_is_thinned_ever_more():
    ordinals = [one.ordinal for one in a_run(600).thinned().timeline().samples]

    assert ordinals[:128] == list(range(1, 129))
    assert ordinals[128:131] == [130, 132, 134]
    assert ordinals[-1] == 600
    assert len(ordinals) == 128 + 64 + 64 + 11


def test_several_units_are_told_apart():
    timeline = together(a_run(3), a_run(6, unit="predict"))

    assert [unit.name for unit in timeline.units] == ["epoch", "predict"]
    assert [len(timeline.of(unit)) for unit in timeline.units] == [3, 6]
    assert [one.elapsed_s for one in timeline.samples] == sorted(
        one.elapsed_s for one in timeline.samples
    )


def test_a_fake_probe_repeats_its_last_answer():
    first, last = Reading({"heap_used": 1}), NotMeasured("gone")
    probe = FakeProbe("fake", first, last)

    assert [probe.read() for _ in range(3)] == [first, last, last]
    assert probe.reads == 3
