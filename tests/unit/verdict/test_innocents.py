"""The innocent twins: runs that look like a leak to a user, and what they are."""

import re
from dataclasses import replace

import pytest

from lowwater.model import Kind
from lowwater.model.gauges import HEAP_FREE, HEAP_USED, MMAP_USED, POOL_IN_USE, POOL_SIZE
from lowwater.testing import a_run
from lowwater.verdict import judge

MIB = 1 << 20


def verdict_of(run):
    return judge(run.timeline())[0]


def test_a_run_in_which_nothing_happens_is_flat():
    verdict = verdict_of(a_run(epochs=12))

    assert verdict.kind is Kind.FLAT
    assert verdict.is_leak is False
    assert verdict.because == ("host memory in use stayed within 0 B over 11 epochs after warm-up")


def test_growth_within_the_noise_of_malloc_is_flat():
    verdict = verdict_of(a_run(60).grows(mib=100 / 2**20))

    assert (
        verdict.because == "host memory in use stayed within 5.7 KiB over 59 epochs after warm-up"
    )


@pytest.mark.parametrize(
    ("collected", "may_be"),
    [
        ((), ", which may be garbage that Python has not collected yet"),
        ((20, 40), ""),
    ],
)
def test_a_history_that_grows_by_bytes_is_a_trickle(collected, may_be):
    verdict = verdict_of(a_run(60).grows(mib=1 / 1024).collects(collected))

    assert (verdict.kind, verdict.is_leak) == (Kind.TRICKLE, False)
    assert verdict.because == (
        f"host memory in use grows by 1.0 KiB per epoch, 58.0 KiB so far{may_be}. "
        "That is 1000.0 KiB per 1,000 epochs, 976.6 MiB per 1,000,000"
    )


def test_memory_that_falls_is_flat():
    verdict = verdict_of(a_run(14).grows(mib=-4))

    assert verdict.kind is Kind.FLAT
    assert verdict.because == "host memory in use fell by 48.0 MiB over 13 epochs after warm-up"


@pytest.mark.parametrize(("until", "rounds"), [(5, 9), (5, 12), (8, 16), (8, 12), (10, 14)])
def test_a_cache_that_filled_up_is_a_cache(until, rounds):
    verdict = verdict_of(a_run(rounds).fills(mib=60, until=until))

    assert verdict.kind is Kind.CACHE
    assert verdict.because.endswith(
        f"until epoch {until} and has not grown since, like a full cache or buffer"
    )


def test_a_cache_that_fills_for_a_hundred_rounds_is_a_cache_too():
    verdict = verdict_of(a_run(120).fills(mib=8, until=90))

    assert verdict.kind is Kind.CACHE
    assert "until epoch 90 and has not grown since" in verdict.because


def test_a_cache_that_paused_for_one_round_is_not_full_yet():
    verdict = verdict_of(a_run(12).fills(mib=60, until=11))

    assert verdict.kind is Kind.INCONCLUSIVE
    assert "its growth paused" in verdict.because
    assert verdict.more_units_needed == 3


def test_a_cache_that_is_nearly_full_is_a_cache():
    verdict = verdict_of(a_run(24).saturates(mib=100, rounds=3))

    assert verdict.kind is Kind.CACHE
    assert "grown since" in verdict.because


def test_growth_that_slows_down_proves_nothing_yet():
    verdict = verdict_of(a_run(16).saturates(mib=100, rounds=12))

    assert verdict.kind is Kind.INCONCLUSIVE
    assert verdict.because == (
        "host memory in use cannot be judged after 16 epochs: its growth slows down; needs about "
        "6 more epochs"
    )


def test_a_jump_from_the_start_to_the_first_round_is_warm_up():
    verdict = verdict_of(a_run(12).measured_at_start().jumps(mib=60, at=1))

    assert verdict.kind is Kind.WARM_UP
    assert verdict.because == (
        "host memory in use rose by 60.0 MiB and has been level since epoch 1"
    )


@pytest.mark.parametrize("at", [2, 3, 6, 9])
def test_a_single_jump_is_warm_up_wherever_it_is(at):
    verdict = verdict_of(a_run(12).jumps(mib=60, at=at))

    assert verdict.kind is Kind.WARM_UP
    assert verdict.because.endswith(f"has been level since epoch {at}")


@pytest.mark.parametrize("run", [a_run(12).jumps(mib=5, at=6), a_run(12).spikes(mib=60, at=6)])
def test_a_small_jump_or_a_spike_is_flat(run):
    assert verdict_of(run).kind is Kind.FLAT


def test_a_jump_small_beside_all_memory_in_use_is_flat():
    assert verdict_of(a_run(12).holds("mmap_used", mib=2000).jumps(mib=60, at=6)).kind is Kind.FLAT


def test_a_jump_in_the_last_rounds_proves_nothing_yet():
    verdict = verdict_of(a_run(12).jumps(mib=60, at=11))

    assert (verdict.kind, verdict.more_units_needed) == (Kind.INCONCLUSIVE, 3)


def test_a_spike_at_the_very_end_is_nothing():
    assert verdict_of(a_run(20).spikes(mib=60, at=20)).kind is Kind.FLAT


def test_a_jump_with_small_rises_after_it_is_warm_up():
    run = a_run(12).jumps(mib=60, at=2).jumps(mib=8, at=3).jumps(mib=8, at=4)

    assert verdict_of(run).kind is Kind.WARM_UP


def test_memory_that_comes_back_again_and_again_is_a_sawtooth():
    verdict = verdict_of(a_run(30).swings(mib=10, every=5))

    assert verdict.kind is Kind.SAWTOOTH
    assert verdict.because == (
        "host memory in use rises and falls: it fell back 5 times to about 195.8 MiB"
    )


def test_memory_that_came_back_once_proves_nothing_yet():
    verdict = verdict_of(a_run(14).swings(mib=10, every=8))

    assert verdict.kind is Kind.INCONCLUSIVE
    assert "it fell back once" in verdict.because


def test_a_sawtooth_on_a_slope_proves_nothing_while_the_collector_was_not_asked():
    """Young garbage is collected often and old garbage rarely: `load_model` in a loop."""
    verdict = verdict_of(a_run(40).swings(mib=10, every=5).grows(mib=1.2))

    assert verdict.kind is Kind.INCONCLUSIVE
    assert "it falls back now and then, but not to the same level" in verdict.because


def test_a_sawtooth_on_a_slope_is_a_leak_once_a_collection_gave_nothing_back():
    verdict = verdict_of(a_run(40).swings(mib=10, every=5).grows(mib=2).collects([9, 19, 29]))

    assert verdict.kind is Kind.LEAK
    assert "its low points rise by 2.0 MiB per epoch" in verdict.because


def test_holes_in_the_heap_are_fragmentation():
    verdict = verdict_of(a_run(14).grows(HEAP_FREE, mib=8.6))

    assert verdict.kind is Kind.FRAGMENTED
    assert verdict.because == (
        "host memory in use is level, but free memory stuck in malloc's heap grows by 8.6 MiB "
        "per epoch (now 124.4 MiB)"
    )


def test_holes_that_have_stopped_growing_are_reserved():
    assert verdict_of(a_run(14).fills(HEAP_FREE, mib=120, until=6)).kind is Kind.RESERVED


def test_holes_that_are_small_are_flat():
    assert verdict_of(a_run(14).grows(HEAP_FREE, mib=1)).kind is Kind.FLAT


def test_free_memory_kept_by_malloc_is_reserved():
    verdict = verdict_of(a_run(14).holds(HEAP_FREE, mib=200))

    assert verdict.kind is Kind.RESERVED
    assert verdict.because == (
        "host memory in use is level; the allocator keeps 200.0 MiB of 415.8 MiB resident "
        "memory free for reuse"
    )


def test_free_memory_that_was_trimmed_is_not_reserved():
    trimmed = a_run(14).holds(HEAP_FREE, mib=200).holds("rss_anon", mib=-196)

    assert verdict_of(trimmed).kind is Kind.FLAT


def test_free_memory_in_the_pool_is_reserved():
    pool = a_run(14).holds(MMAP_USED, mib=300).holds(POOL_SIZE, mib=200).holds(POOL_IN_USE, mib=10)

    verdict = verdict_of(pool)

    assert verdict.kind is Kind.RESERVED
    assert "the allocator keeps 194.0 MiB of" in verdict.because


def test_a_pool_in_use_is_not_reserved():
    pool = a_run(14).holds(MMAP_USED, mib=300).holds(POOL_SIZE, mib=200).holds(POOL_IN_USE, mib=190)

    assert verdict_of(pool).kind is Kind.FLAT


def test_pages_of_mapped_files_are_flat():
    verdict = verdict_of(a_run(14).grows("rss_file", mib=24))

    assert verdict.kind is Kind.FLAT
    assert verdict.because == (
        "resident memory rose by 24.0 MiB per epoch, but these are pages of mapped files, which "
        "the kernel can free when memory is short"
    )


def test_resident_memory_of_a_foreign_malloc_is_never_a_leak():
    verdict = verdict_of(a_run(14).grows(mib=8).lacks(HEAP_USED, MMAP_USED, HEAP_FREE))

    assert verdict.kind is Kind.INCONCLUSIVE
    assert verdict.growth_bytes_per_unit == 8 << 20
    assert verdict.because == (
        "resident memory rose by 8.0 MiB per epoch, but this malloc does not report the bytes in "
        "use and may keep freed memory; run without the preloaded allocator to judge"
    )


def test_resident_memory_of_a_foreign_malloc_can_be_flat():
    verdict = verdict_of(a_run(14).lacks(HEAP_USED, MMAP_USED, HEAP_FREE))

    assert verdict.kind is Kind.FLAT
    assert verdict.because.startswith("resident memory stayed")


@pytest.mark.parametrize(("rounds", "more"), [(1, 5), (3, 3), (4, 2)])
def test_a_run_that_ends_during_warm_up_proves_nothing(rounds, more):
    verdict = verdict_of(a_run(rounds).grows(mib=4))

    assert verdict.kind is Kind.INCONCLUSIVE
    assert verdict.is_leak is None
    assert verdict.more_units_needed == more
    assert f"needs about {more} more epochs" in verdict.because


def test_five_rounds_that_grow_need_a_sixth():
    verdict = verdict_of(a_run(5).grows(mib=4))

    assert (verdict.kind, verdict.more_units_needed) == (Kind.INCONCLUSIVE, 1)
    assert verdict.because == (
        "host memory in use cannot be judged after 5 epochs; needs about 1 more epoch"
    )


def test_five_rounds_that_do_not_grow_are_flat():
    assert verdict_of(a_run(5)).kind is Kind.FLAT


def test_noise_in_a_short_run_proves_nothing():
    verdict = verdict_of(a_run(8).noise(mib=20, seed=4))

    assert verdict.kind is Kind.INCONCLUSIVE
    assert verdict.more_units_needed >= 4


def test_a_cache_that_threads_filled_during_a_collection_is_still_a_cache():
    """Of a real `Dataset.cache()`: bytes in use rose by 3 MiB while the collector ran."""
    timeline = a_run(12).fills(mib=40, until=5).collects([4]).timeline()
    [collection] = timeline.collections
    filled_meanwhile = replace(collection, after_bytes=collection.before_bytes + 3 * MIB)
    verdict = judge(replace(timeline, collections=(filled_meanwhile,)))[0]

    assert verdict.kind is Kind.CACHE


def test_growth_below_the_resolution_is_told_beside_a_jump_and_beside_kept_memory():
    """Certain growth is never level, be it ever so little."""
    jumped = verdict_of(a_run(16).grows(mib=0.01).jumps(mib=200, at=2))
    kept = verdict_of(a_run(16).grows(mib=0.01).holds("heap_free", mib=300))

    assert (jumped.kind, kept.kind) == (Kind.WARM_UP, Kind.RESERVED)
    may_be = ", which may be garbage that Python has not collected yet"
    assert jumped.because.endswith(
        f"until epoch 2; since then it grows by only 10.2 KiB per epoch{may_be}"
    )
    assert (
        f"host memory in use grows by only 10.2 KiB per epoch{may_be}; the allocator keeps "
        in kept.because
    )


def test_little_growth_that_collections_left_is_told_before_kept_memory():
    """What the collector was tried on, and stays, is no garbage: it grows for certain."""
    verdict = verdict_of(a_run(16).grows(mib=0.01).holds("heap_free", mib=300).collects(at=[6, 12]))

    assert verdict.kind is Kind.TRICKLE
    assert "garbage" not in verdict.because


def test_certain_growth_beside_mapped_files_is_a_trickle_and_both_are_told():
    """Pages of mapped files are called flat, and certain growth never is."""
    verdict = verdict_of(a_run(16).grows(mib=0.01).grows("rss_file", mib=24))

    assert verdict.kind is Kind.TRICKLE
    assert verdict.because == (
        "resident memory rose by 24.0 MiB per epoch, but these are pages of mapped files, which "
        "the kernel can free when memory is short; host memory in use grows by only 10.2 KiB per "
        "epoch, which may be garbage that Python has not collected yet. That is 10.0 MiB per 1,000 "
        "epochs, 9.8 GiB per 1,000,000"
    )


@pytest.mark.parametrize("mib", [8, 40])
@pytest.mark.parametrize("steps", [5, 12, 40, 90])
def test_when_a_cache_was_full_has_one_answer_however_small_its_steps(steps, mib):
    """Whatever kind it is called: one account said epoch 5, another epoch 7."""
    verdict = verdict_of(a_run(steps + 60).fills(mib=mib, until=steps))

    assert re.search(r"(?:until|since) epoch (\d+)", verdict.because)[1] == f"{steps}"


def test_growth_beyond_the_resolution_is_told_before_mapped_files():
    verdict = verdict_of(a_run(16).grows(mib=0.1).grows("rss_file", mib=20))

    assert verdict.kind is not Kind.FLAT


def test_growth_beyond_the_resolution_is_told_before_kept_memory():
    verdict = verdict_of(a_run(16).grows(mib=0.1).holds("heap_free", mib=300))

    assert verdict.kind is not Kind.RESERVED


def test_growth_in_each_of_four_rounds_is_not_flat():
    """Of an eager `py_function`, which keeps 76 KiB per call: too few rounds to exclude chance."""
    verdict = verdict_of(a_run(5).grows(mib=76 / 1024))

    assert verdict.kind is Kind.TRICKLE
    assert verdict.because.startswith("host memory in use grows by 76.0 KiB per epoch, 228.0 KiB ")


def test_growth_below_rounds_that_take_turns_is_not_flat():
    """Of a real run: every other round ends before a buffer of 2 MiB is free again."""
    timeline = a_run(20).grows(mib=0.04).timeline()
    taking_turns = [
        replace(one, gauges={**one.gauges, "heap_used": one.gauges["heap_used"] + 2 * MIB})
        if one.ordinal % 2
        else one
        for one in timeline.samples
    ]
    verdict = judge(replace(timeline, samples=tuple(taking_turns)))[0]

    assert verdict.kind is Kind.TRICKLE
    assert verdict.interval_bytes[0] > 0


@pytest.mark.parametrize(("garbage_mib", "every"), [(0.2, 5), (0.2, 7), (0.3, 9)])
@pytest.mark.parametrize("rounds", [33, 45, 75, 87, 120])
def test_garbage_behind_a_fill_that_stopped_late_is_no_leak(garbage_mib, every, rounds):
    """Of a real run: a replay buffer was full, and each `fit` left garbage that Python collects.

    The teeth are small beside the fill, and without their falls they are a line.
    """
    timeline = a_run(rounds).fills(mib=52, until=26).timeline()
    with_garbage = [
        replace(
            one,
            gauges={
                **one.gauges,
                "heap_used": one.gauges["heap_used"]
                + round(garbage_mib * MIB * (one.ordinal % every)),
            },
        )
        for one in timeline.samples
    ]
    verdict = judge(replace(timeline, samples=tuple(with_garbage)))[0]

    assert verdict.is_leak is not True, verdict.because
    if rounds >= 75:
        assert verdict.kind is Kind.CACHE, verdict.because
        assert "until epoch 26" in verdict.because or "until epoch 27" in verdict.because
