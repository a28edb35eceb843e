"""What the collector's experiments prove, and what they do not."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from lowwater.model import Kind, Unit
from lowwater.model.gauges import in_use_bytes
from lowwater.testing import a_run, together
from lowwater.verdict import judge
from lowwater.verdict.case import Case, CollectedMarks
from lowwater.verdict.garbage import Says, ask_collections
from lowwater.verdict.series import Series

MIB = 1 << 20


def verdict_of(run):
    return judge(run.timeline())[0]


def test_garbage_that_collections_give_back_is_no_leak():
    verdict = verdict_of(a_run(14).leaves_garbage(mib=4).collects([5, 8, 12]))

    assert verdict.kind is Kind.SAWTOOTH
    assert verdict.growth_bytes_per_unit == 0
    assert verdict.because == (
        "host memory in use rises until Python collects garbage: a collection freed 16.0 MiB, "
        "and what remains does not grow"
    )


def test_predict_in_a_loop_is_garbage():
    calls = a_run(240, unit="predict").leaves_garbage(mib=1 / 32).collects([30, 60, 90, 150, 220])

    assert verdict_of(calls).kind is Kind.SAWTOOTH


def test_live_bytes_are_told_apart_from_the_garbage_around_them():
    """One model per round: +9.8 MB with garbage, of which 4.6 stay."""
    verdict = verdict_of(a_run(14).grows(mib=4.6).leaves_garbage(mib=5.2).collects([5, 8, 12]))

    assert verdict.kind is Kind.LEAK
    assert verdict.growth_bytes_per_unit == pytest.approx(4.6 * MIB, rel=1e-6)
    assert verdict.because == (
        "host memory in use rose by 4.6 MiB per epoch (4.6 … 4.6), counting only what is still "
        "in use after 3 garbage collections; each freed about 20.8 MiB"
    )


def test_two_collections_far_apart_are_enough():
    verdict = verdict_of(a_run(14).grows(mib=4.6).leaves_garbage(mib=5.2).collects([5, 11]))

    assert verdict.kind is Kind.LEAK
    assert verdict.growth_bytes_per_unit == pytest.approx(4.6 * MIB, rel=1e-6)


def test_two_collections_close_together_are_not():
    run = a_run(24).grows(mib=4.6).leaves_garbage(mib=5.2).collects([5, 7])

    assert verdict_of(run).kind is Kind.INCONCLUSIVE


def test_one_collection_that_gives_all_back_acquits():
    assert verdict_of(a_run(14).leaves_garbage(mib=4).collects([8])).kind is Kind.SAWTOOTH


def test_one_collection_that_gives_nothing_back_leaves_the_leak():
    verdict = verdict_of(a_run(14).grows(mib=4).collects([8]))

    assert (verdict.kind, verdict.growth_bytes_per_unit) == (Kind.LEAK, 4 * MIB)


@pytest.mark.parametrize("at", [5, 8])
def test_one_collection_that_gives_part_back_proves_nothing(at):
    verdict = verdict_of(a_run(14).grows(mib=4.6).leaves_garbage(mib=5.2).collects([at]))

    assert verdict.kind is Kind.INCONCLUSIVE
    assert "part of the rise was garbage" in verdict.because
    assert verdict.more_units_needed == 5


def test_collections_that_give_nothing_back_leave_all_marks_to_the_estimate():
    run = a_run(14).grows(mib=4).noise(mib=1, seed=1)

    plain, collected = verdict_of(run), verdict_of(run.collects([5, 8, 12]))

    assert plain == collected


def test_a_little_live_growth_under_much_garbage_needs_four_collections():
    run = a_run(20).grows(mib=1).leaves_garbage(mib=12)

    assert verdict_of(run.collects([5, 9, 13])).kind is Kind.INCONCLUSIVE
    assert verdict_of(run.collects([5, 9, 13, 17])).kind is Kind.LEAK


def test_small_live_growth_under_garbage_is_a_slow_leak():
    run = a_run(40).grows(mib=0.1).leaves_garbage(mib=4)
    verdict = verdict_of(run.collects([5, 9, 17, 25, 33]))

    assert (verdict.kind, verdict.is_slow) == (Kind.LEAK, True)
    assert verdict.growth_bytes_per_unit == pytest.approx(0.1 * MIB, rel=0.01)


def test_live_growth_of_a_few_numbers_under_garbage_is_garbage():
    run = a_run(20).grows(mib=1 / 1024).leaves_garbage(mib=4).collects([5, 9, 13, 17])

    assert verdict_of(run).kind is Kind.SAWTOOTH


def test_live_bytes_that_stopped_growing_are_no_leak():
    run = a_run(24).fills(mib=80, until=8).leaves_garbage(mib=2).collects([4, 6, 8, 12, 16, 20])

    assert verdict_of(run).kind is not Kind.LEAK


def test_live_bytes_that_have_not_grown_since_the_last_collection_are_no_leak():
    run = a_run(24).fills(mib=80, until=8).leaves_garbage(mib=2).collects([4, 6, 8])

    assert verdict_of(run).kind is not Kind.LEAK


def test_collections_at_points_that_rise_by_chance_prove_nothing():
    """Four marks rise one after the other in 1 of 24 orders: they must rise out of their noise."""
    flat = (
        a_run(60).noise(mib=1.5, seed=seed).leaves_garbage(mib=0.1).collects([15, 25, 40, 55])
        for seed in range(100)
    )

    assert [verdict_of(run).kind for run in flat].count(Kind.LEAK) <= 1


def test_a_slow_leak_under_garbage_and_noise_is_no_sawtooth():
    leaks = (
        a_run(30)
        .grows(mib=0.11)
        .gaussian_noise(mib=0.3, seed=seed)
        .leaves_garbage(mib=0.5)
        .collects([3, 5, 9, 11, 14, 19, 22, 28])
        for seed in range(100)
    )
    kinds = Counter(verdict_of(run).kind for run in leaks)

    assert kinds[Kind.LEAK] >= 80
    assert kinds[Kind.LEAK] + kinds[Kind.INCONCLUSIVE] >= 90


def test_garbage_that_is_always_there_takes_nothing_from_the_rise():
    """Each collection gives back the same, however long ago the last one was."""
    run = a_run(100).grows(mib=0.08).collects([3, 12, 28, 33, 38, 44, 52, 55, 62, 65])
    timeline = run.timeline()
    found = [replace(one, after_bytes=one.after_bytes - MIB // 2) for one in timeline.collections]
    verdict, _ = judge(replace(timeline, collections=tuple(found)))

    assert verdict.kind is Kind.LEAK
    assert verdict.growth_bytes_per_unit == pytest.approx(0.08 * MIB, rel=0.1)


def asked_by_calls(loop, calls):
    """Both units saw the same collections, but only the calls asked for them."""
    both = together(loop.collects([4, 8, 12]), calls.collects([67, 131, 195]))
    return replace(both, collections=tuple(c for c in both.collections if c.unit_id == 2))


def test_garbage_is_garbage_for_a_unit_that_did_not_ask():
    """The collector ran after a `predict` call; the loop around it is acquitted as well."""
    loop = a_run(15, unit="iteration", where="serve.py:9").leaves_garbage(mib=4)
    calls = a_run(240, unit="predict").leaves_garbage(mib=0.25)

    _, by_unit = judge(asked_by_calls(loop, calls))

    assert [one.kind for one in by_unit] == [Kind.SAWTOOTH, Kind.SAWTOOTH]
    assert "rises until Python collects garbage" in by_unit[0].because


def test_a_leak_is_a_leak_for_a_unit_that_did_not_ask():
    loop = a_run(15, unit="iteration", where="serve.py:9").grows(mib=4).leaves_garbage(mib=4)
    calls = a_run(240, unit="predict").grows(mib=0.25).leaves_garbage(mib=0.25)

    leading, by_unit = judge(asked_by_calls(loop, calls))

    assert [one.kind for one in by_unit] == [Kind.LEAK, Kind.LEAK]
    assert leading.unit.name == "iteration"
    assert leading.growth_bytes_per_unit == pytest.approx(4 * MIB, rel=0.15)


def test_garbage_that_holds_device_memory_is_no_leak_of_the_device():
    gauge = "GPU:0 in use"
    run = a_run(24).holds(gauge, mib=500).swings(gauge, mib=20, every=6).collects([5, 11, 17, 23])

    assert verdict_of(run).kind is not Kind.LEAK


def test_three_collections_that_climb_unevenly_prove_nothing():
    """By chance they do so one time in six."""
    garbage = a_run(14).leaves_garbage(mib=2)
    uneven = garbage.jumps(mib=5, at=6).jumps(mib=0.5, at=10).collects([4, 8, 12])
    even = garbage.grows(mib=0.7).collects([4, 8, 12])

    assert verdict_of(uneven).kind is not Kind.LEAK
    assert verdict_of(even).kind is Kind.LEAK


def test_a_collection_of_the_unit_itself_is_not_replaced_by_one_of_another():
    epochs = a_run(14).grows(mib=2).leaves_garbage(mib=1).collects([4, 8, 12])
    calls = a_run(13, unit="predict").grows(mib=2).leaves_garbage(mib=1).collects([4, 8, 12])

    leading, _ = judge(together(epochs, calls))

    assert leading.growth_bytes_per_unit == pytest.approx(2 * MIB, rel=0.05)


def test_collections_of_another_unit_count_as_measured_where_they_are_on_one_line():
    """At the boundaries of the loop there is noise; at the calls, when they ran, there is none."""
    loop = a_run(14, unit="iteration").grows(mib=0.65).leaves_garbage(mib=1.2).noise(mib=2, seed=5)
    calls = a_run(112, unit="predict").grows(mib=0.65 / 8).leaves_garbage(mib=0.15)
    both = together(loop.collects([3, 5, 7, 9, 11]), calls.collects([28, 44, 60, 76, 92]))
    by_calls = tuple(one for one in both.collections if one.unit_id == 2)

    leading, by_unit = judge(replace(both, collections=by_calls))

    assert leading.kind is Kind.LEAK
    assert leading.unit.name == "iteration"
    assert leading.growth_bytes_per_unit == pytest.approx(0.65 * MIB, rel=0.1)
    assert (by_unit[1].kind, by_unit[1].is_slow) == (Kind.LEAK, True)


def test_collection_at_the_end_of_a_loop_speaks_for_the_calls_inside_of_it():
    """A call is counted when it begins: its last sample comes before the end of the loop."""
    loop = a_run(20, unit="iteration").leaves_garbage(mib=4).collects([19]).timeline()
    calls = replace(loop.units[0], id=2, name="train_on_batch", where=None)
    samples = [
        replace(sample, unit_id=2, elapsed_s=sample.elapsed_s - 0.01)
        for sample in loop.samples
        if sample.ordinal < 19
    ]

    both = replace(loop, units=(*loop.units, calls), samples=(*loop.samples, *samples))

    assert {one.kind for one in judge(both)[1]} == {Kind.SAWTOOTH}


MARKS_MB = (
    205.0,
    208.5,
    202.1,
    205.6,
    209.1,
    202.1,
    205.6,
    209.2,
    209.0,
    212.5,
    216.1,
    202.2,
    205.7,
)


def collected_elsewhere(*left_mb):
    """Calls whose memory swings, with collections between them that left so much behind."""
    marks = Series(np.arange(1.0, 14.0), np.array(MARKS_MB) * 1e6)
    back = np.array([198.85, 202.84, 206.16]) * 1e6  # as it would have been at the boundaries
    collected = CollectedMarks(
        np.array([2.0, 5.0, 11.0]),
        marks.y[[1, 4, 10]],
        back,
        Series(np.array([2.1, 5.3, 11.3]), np.array(left_mb) * 1e6),
    )
    return Case(Unit(1, "predict"), "host", (), marks, 1, collected)


def test_garbage_that_was_measured_to_go_is_no_leak_where_other_bytes_swing():
    """A loop of load_model and predict: what is live at the boundary rose by chance."""
    assert ask_collections(collected_elsewhere(199.09, 199.12, 199.18)).says is Says.GARBAGE


def test_what_collections_left_behind_and_rises_where_it_was_measured_is_live():
    assert ask_collections(collected_elsewhere(198.9, 202.9, 206.2)).says is Says.BOTH


def test_what_a_busy_thread_drops_during_one_collection_was_not_garbage():
    """Of a real run: a worker emptied its list while the collector ran, and filled it in others."""
    at = [2, 5, 9, 17, 33, 65]
    before_mb = [1.3, 3.8, 5.8, 4.3, 8.1, 13.9]
    after_mb = [1.3, 3.9, 2.4, 4.7, 9.3, 14.5]
    timeline = a_run(100).grows(mib=0.19).gaussian_noise(mib=1.1, seed=3).collects(at).timeline()
    start = in_use_bytes(timeline.samples[0].gauges)
    seen = [
        replace(one, before_bytes=start + round(b * 1e6), after_bytes=start + round(a * 1e6))
        for one, b, a in zip(timeline.collections, before_mb, after_mb, strict=True)
    ]
    verdict = judge(replace(timeline, collections=tuple(seen)))[0]

    assert verdict.kind is Kind.LEAK, verdict.because
    low, high = verdict.interval_bytes
    assert low <= 0.19 * MIB <= high


def test_garbage_that_collections_find_again_is_garbage_however_busy_a_thread_is():
    """What all of them together gave back is most of the rise."""
    freed_mb = [3.0, -0.6, 4.5, 7.0]
    timeline = a_run(60).grows(mib=0.25).collects([6, 12, 24, 48]).timeline()
    seen = [
        replace(one, after_bytes=one.before_bytes - round(freed * 1e6))
        for one, freed in zip(timeline.collections, freed_mb, strict=True)
    ]
    verdict = judge(replace(timeline, collections=tuple(seen)))[0]

    assert verdict.kind in (Kind.SAWTOOTH, Kind.INCONCLUSIVE), verdict.because


@pytest.mark.parametrize("rounds", [20, 40, 100])
def test_garbage_that_python_collects_by_itself_is_no_leak_however_small_its_teeth(rounds):
    """Less than a megabyte each, and no collection of ours was due: without falls, a line."""
    timeline = a_run(rounds).timeline()
    teeth = [
        replace(
            one,
            gauges={
                **one.gauges,
                "heap_used": one.gauges["heap_used"] + 200_000 * (one.ordinal % 5),
            },
        )
        for one in timeline.samples
    ]

    assert judge(replace(timeline, samples=tuple(teeth)))[0].is_leak is False
