"""Runs that leak, and what the user reads about them."""

from dataclasses import replace

import pytest

from lowwater.model import Ending, Kind
from lowwater.testing import a_run
from lowwater.verdict import judge

MIB = 1 << 20


def verdict_of(run):
    return judge(run.timeline())[0]


def test_growth_in_every_epoch_is_a_leak_with_its_rate_and_reason():
    verdict = verdict_of(a_run(epochs=12).grows("heap_used", mib=4))

    assert verdict.kind is Kind.LEAK
    assert verdict.is_leak is True
    assert verdict.growth_bytes_per_unit == 4 * MIB
    assert verdict.interval_bytes == (4 * MIB, 4 * MIB)
    assert verdict.units_seen == 12
    assert verdict.more_units_needed is None
    assert verdict.because == (
        "host memory in use rose in 11 of 11 epochs after warm-up, by 4.0 MiB each (4.0 … 4.0)"
    )


def test_growth_of_a_loop_is_told_with_the_line_of_the_loop():
    verdict = verdict_of(a_run(12, unit="iteration", where="train.py:20").grows(mib=4))

    assert verdict.because == (
        "host memory in use rose in 11 of 11 iterations of the loop at train.py:20 "
        "after warm-up, by 4.0 MiB each (4.0 … 4.0)"
    )


def test_interval_holds_the_true_growth_under_noise():
    verdict = verdict_of(a_run(30).grows(mib=4).noise(mib=6, seed=1))

    assert verdict.kind is Kind.LEAK
    assert verdict.interval_bytes[0] < 4 * MIB < verdict.interval_bytes[1]


def test_six_rounds_are_enough_for_large_growth():
    assert verdict_of(a_run(6).grows(mib=2).collects([4])).kind is Kind.LEAK


def test_six_rounds_are_enough_for_regular_growth():
    assert verdict_of(a_run(6).grows(mib=0.25).collects([4])).kind is Kind.LEAK


def slow(rounds, kib):
    """Growth that a collection has left as it was."""
    run = a_run(rounds, unit="predict").grows(mib=kib / 1024)
    return run.collects([rounds // 3, rounds - 1])


@pytest.mark.parametrize("rounds", [60, 120, 400])
def test_slow_growth_is_a_leak_however_long_the_run(rounds):
    verdict = verdict_of(slow(rounds, kib=42))

    assert (verdict.kind, verdict.is_slow) == (Kind.LEAK, True)
    assert verdict.growth_bytes_per_unit == 42 * 1024
    assert verdict.because.endswith(
        "That is 41.0 MiB per 1,000 predict calls, 40.1 GiB per 1,000,000"
    )


def test_slow_growth_that_no_collection_has_tested_may_be_garbage():
    verdict = verdict_of(a_run(60, unit="predict").grows(mib=42 / 1024))

    assert verdict.kind is Kind.INCONCLUSIVE
    assert "it may be garbage that Python has not collected yet" in verdict.because


def test_growth_too_small_to_be_seen_yet_is_a_trickle_and_never_flat():
    verdict = verdict_of(slow(20, kib=42))

    assert verdict.kind is Kind.TRICKLE
    assert verdict.because.startswith("host memory in use grows by 42.0 KiB per predict call")


def test_numbers_that_are_kept_add_up_in_a_very_long_run():
    verdict = verdict_of(slow(400_000, kib=96 / 1024).thinned())

    assert (verdict.kind, verdict.is_slow) == (Kind.LEAK, True)


def test_growth_of_a_leak_that_hurts_is_not_slow():
    assert not verdict_of(a_run(12).grows(mib=0.21)).is_slow


def test_a_jump_at_the_start_does_not_hide_a_leak():
    verdict = verdict_of(a_run(12).jumps(mib=60, at=2).grows(mib=4))

    assert (verdict.kind, verdict.growth_bytes_per_unit) == (Kind.LEAK, 4 * MIB)


def test_a_jump_in_the_midst_does_not_raise_the_rate():
    verdict = verdict_of(a_run(12).jumps(mib=60, at=6).grows(mib=4))

    assert (verdict.kind, verdict.growth_bytes_per_unit) == (Kind.LEAK, 4 * MIB)
    assert verdict.interval_bytes == (4 * MIB, 4 * MIB)


def test_a_jump_that_is_resident_as_well_does_not_raise_the_rate():
    verdict = verdict_of(a_run(20).jumps(mib=30, at=10).grows(mib=4))

    assert (verdict.kind, verdict.growth_bytes_per_unit) == (Kind.LEAK, 4 * MIB)


def test_growth_in_uneven_steps_without_a_fall_is_a_leak():
    assert verdict_of(a_run(24).grows(mib=10).swings(mib=2, every=4)).kind is Kind.LEAK


def test_a_full_cache_does_not_hide_a_leak():
    verdict = verdict_of(a_run(20).fills(mib=60, until=5).grows(mib=4))

    assert (verdict.kind, verdict.growth_bytes_per_unit) == (Kind.LEAK, 4 * MIB)


def test_a_leak_that_began_late_is_told_with_its_beginning():
    verdict = verdict_of(a_run(20).grows(mib=4, since=10))

    assert verdict.kind is Kind.LEAK
    assert verdict.because == (
        "host memory in use has risen since epoch 10, by 4.0 MiB per epoch (4.0 … 4.0)"
    )


@pytest.mark.parametrize(("rounds", "since", "more"), [(12, 8, 2), (60, 50, 10)])
def test_a_ramp_that_began_lately_proves_nothing_yet(rounds, since, more):
    verdict = verdict_of(a_run(rounds).grows(mib=4, since=since))

    assert verdict.kind is Kind.INCONCLUSIVE
    assert verdict.more_units_needed == more
    assert "it began to rise only at epoch" in verdict.because


def test_growth_that_gains_speed_is_a_leak():
    run = a_run(14).grows(mib=4).grows(mib=4, since=5).grows(mib=4, since=8)

    assert verdict_of(run).kind is Kind.LEAK


def test_spikes_do_not_hide_a_leak():
    run = a_run(20).grows(mib=1).spikes(mib=80, at=7).spikes(mib=80, at=13)

    assert verdict_of(run).growth_bytes_per_unit == pytest.approx(MIB, rel=0.01)


def test_a_leak_every_sixth_round_is_a_leak():
    run = a_run(40)
    for at in range(6, 40, 6):
        run = run.jumps(mib=16, at=at)

    verdict = verdict_of(run)

    assert verdict.kind is Kind.LEAK
    assert verdict.growth_bytes_per_unit == pytest.approx(16 * MIB / 6, rel=0.05)


def test_two_jumps_are_no_leak_every_few_rounds():
    assert verdict_of(a_run(40).jumps(mib=16, at=12).jumps(mib=16, at=18)).kind is Kind.WARM_UP


def test_a_pool_that_was_touched_at_once_is_no_leak():
    run = a_run(24).jumps(mib=18, at=4).jumps(mib=36, at=8).jumps(mib=72, at=14)

    assert verdict_of(run).kind is not Kind.LEAK


def test_a_device_that_leaks_is_named():
    run = a_run(12).holds("GPU:0 in use", mib=500).grows("GPU:0 in use", mib=8)

    verdict = verdict_of(run)

    assert (verdict.kind, verdict.place) == (Kind.LEAK, "GPU:0")
    assert verdict.because == (
        "GPU:0 memory in use rose in 11 of 11 epochs after warm-up, by 8.0 MiB each (8.0 … 8.0)"
    )


def test_a_device_that_is_full_from_the_start_is_no_leak():
    assert verdict_of(a_run(12).holds("GPU:0 in use", mib=15_000)).kind is Kind.FLAT


def test_growth_by_the_clock_is_a_leak_when_it_is_slow_and_lasts():
    verdict = verdict_of(a_run(60, unit="time").grows(mib=1).noise(mib=5, seed=2))

    assert verdict.kind is Kind.LEAK
    assert "per second" in verdict.because


def test_growth_by_the_clock_is_that_of_the_low_points():
    """The clock strikes anywhere in a round: most samples are above the low-water mark."""
    verdict = verdict_of(a_run(80, unit="time").swings(mib=10, every=5).grows(mib=1))

    assert verdict.kind is Kind.LEAK
    assert verdict.growth_bytes_per_unit == MIB


def test_growth_by_the_clock_that_doubles_memory_may_be_loading():
    verdict = verdict_of(a_run(60, unit="time").grows(mib=50))

    assert verdict.kind is Kind.INCONCLUSIVE
    assert verdict.because == (
        "host memory in use rose by 50.0 MiB per second, which may be data being loaded; mark "
        'the round trips with lowwater.boundary("episode") to judge'
    )


def test_fifteen_seconds_are_too_few():
    verdict = verdict_of(a_run(15, unit="time").grows(mib=1))

    assert (verdict.kind, verdict.more_units_needed) == (Kind.INCONCLUSIVE, 1)


def test_old_garbage_does_not_bend_the_rate_of_a_short_run():
    """Tracing leaves garbage behind; the first collection takes it, and the marks dip."""
    run = a_run(6).grows(mib=2).jumps(mib=0.8, at=1).jumps(mib=-0.8, at=6).collects([5, 6])
    timeline = run.timeline()
    first, last = timeline.collections
    took_old = replace(first, after_bytes=first.after_bytes - round(0.8 * MIB))
    verdict = judge(replace(timeline, collections=(took_old, last)))[0]

    assert verdict.kind is Kind.LEAK
    assert verdict.growth_bytes_per_unit == pytest.approx(2 * MIB, rel=0.02)


def ended(run, **how):
    return judge(replace(run.timeline(), ending=Ending(60.0, 1, **how)))[0]


def test_leak_that_ended_in_an_out_of_memory_is_a_leak():
    run = a_run(11).grows(mib=30).collects([4, 8])

    assert ended(run, out_of_memory=True, error="ResourceExhaustedError: OOM").kind is Kind.LEAK


def test_few_rounds_before_an_out_of_memory_are_told_and_not_asked_for_more():
    verdict = ended(a_run(4).grows(mib=80), out_of_memory=True, error="MemoryError")

    assert (verdict.kind, verdict.more_units_needed) == (Kind.INCONCLUSIVE, None)
    assert verdict.because == (
        "only 4 epochs seen: too few to tell growth from warm-up; then memory ran out. "
        "Until then it rose in every epoch, by about 80.0 MiB each"
    )


def test_script_that_failed_is_not_asked_for_more_rounds():
    verdict = ended(a_run(3), error="AttributeError: no such thing")

    assert verdict.more_units_needed is None
    assert verdict.because.endswith("too few to tell growth from warm-up; then the program failed")
