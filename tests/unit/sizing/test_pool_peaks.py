"""Steps of a batch that nobody tried are played through a pool."""

from dataclasses import replace

import pytest

from footprints import FIXED, MIB, a_trace, a_watched_step
from lowwater.sizing.curve import curve_of
from lowwater.sizing.pool_peaks import PoolPeaks, fits, played


def peaks_of(*batches, ratios=(1.0,), **options):
    shares = [*ratios, *[ratios[-1]] * len(batches)]
    return PoolPeaks(
        [
            a_watched_step(batch, ratio=share, **options)
            for batch, share in zip(batches, shares, strict=False)
        ]
    )


def test_loss_of_a_pool_is_that_of_the_real_step():
    pool, real = peaks_of(8, 16, 32), max(played([a_trace(100)]))

    assert real > 1.05 * a_trace(100).needed_bytes
    assert pool.peak_bytes(100) == pytest.approx(real, rel=0.001)
    assert pool.needed_bytes(100) == pytest.approx(a_trace(100).needed_bytes, rel=0.001)


def test_what_was_there_before_counts_as_it_was_given_out():
    """However the pool has rounded it up: that is known, and does not grow."""
    more = peaks_of(8, 16, 32, before_bytes=111 * MIB)

    assert more.peak_bytes(100) - peaks_of(8, 16, 32).peak_bytes(100) == pytest.approx(
        100 * MIB, abs=2 * MIB
    )


def test_real_pools_that_peak_higher_than_their_forecast_raise_it_and_make_it_less_sure():
    exact, off = peaks_of(8, 16, 32), peaks_of(8, 16, 32, ratios=(1, 1, 1.2))

    assert exact.peak_bytes(64) < off.peak_bytes(64) < 1.2 * exact.peak_bytes(64)
    assert off.half_width_bytes(64) > 1.3 * exact.half_width_bytes(64)


def test_no_real_step_takes_less_than_its_tensors_ask_for():
    pool = peaks_of(8, 16, 32)

    assert pool.least_bytes(100) == pytest.approx(a_trace(100).needed_bytes, rel=0.01)


def test_batch_for_a_limit_is_one_that_a_pool_of_this_size_can_serve():
    pool = peaks_of(8, 16, 32)
    limit = max(played([a_trace(100)]))

    found = pool.batch_that_takes(limit)

    assert 80 < found <= 100
    assert fits([a_trace(found)], limit)


def test_batch_for_a_limit_leaves_room_for_what_real_pools_lose():
    exact, lossy = peaks_of(8, 16, 32), peaks_of(8, 16, 32, ratios=(1.2,))

    assert lossy.batch_that_takes(1000 * MIB) < 0.95 * exact.batch_that_takes(1000 * MIB)


def test_model_with_which_nothing_grows_has_no_largest_batch():
    assert peaks_of(8, 16, 32, per_sample=0).batch_that_takes(1000 * MIB) is None


def test_fixed_top_hides_nothing():
    """Up to batch 32 the 400 MiB of all gradients are the peak: the activations are seen anyway."""
    pool = peaks_of(8, 16, 32, gradients_bytes=400 * MIB)

    assert pool.peak_bytes(32) == pool.peak_bytes(8)
    assert pool.needed_bytes(1000) == pytest.approx(a_trace(1000).needed_bytes, rel=0.001)
    assert pool.batch_that_takes(2000 * MIB) == pytest.approx(
        peaks_of(8, 16, 32).batch_that_takes(2000 * MIB), rel=0.05
    )


def test_curve_of_watched_steps_is_sure_after_three_batches():
    points = [a_watched_step(batch) for batch in (8, 16, 32)]

    assert not curve_of(points[:2], FIXED).is_sure
    assert curve_of(points, FIXED).is_sure
    assert curve_of(points[:2], FIXED).why_not == "only 2 batch sizes could be measured"


def test_allocation_that_grows_with_the_square_of_the_batch_is_refused():
    points = [a_watched_step(batch, square=0.2) for batch in (8, 16, 32)]

    told = curve_of(points, FIXED).at(128)

    assert told.peak_bytes is None
    assert told.because.endswith(
        "because the allocations of a step do not grow evenly with the batch"
    )


def test_allocations_that_bend_a_little_are_less_sure_the_farther_away():
    points = [a_watched_step(batch, square=0.001) for batch in (8, 16, 32)]
    near, far = (curve_of(points, FIXED).at(batch) for batch in (64, 10_000))

    assert near.interval_bytes[0] < near.peak_bytes < near.interval_bytes[1]
    assert far.because.endswith("because the estimate there is too uncertain to be useful")


def test_peaks_alone_are_extended_by_a_line():
    watched = [a_watched_step(batch) for batch in (8, 16, 32)]
    unseen = [replace(step, traces=()) for step in watched]

    assert curve_of(watched, FIXED).extension.how == "predicted allocation by allocation"
    for some in (unseen, [*unseen[:2], watched[2]]):
        assert curve_of(some, FIXED).extension.how == "predicted by a line"
