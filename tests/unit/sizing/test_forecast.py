"""Steps of a batch that nobody tried are played through a pool."""

import pytest

from lowwater.model.footprint import StepKind, StepPeak
from lowwater.model.step_trace import GIVEN_BACK, StepTrace
from lowwater.sizing.forecast import forecast_of, played
from lowwater.sizing.pool_peaks import UNKNOWN_SPREAD, PoolPeaks

MIB = 1 << 20
WEIGHTS = (8 * MIB, 3 * MIB)


def a_trace(batch_size):
    """Activations of 1 MiB and 0.4 MiB for each sample, and a workspace of 5 MiB."""
    return StepTrace(
        WEIGHTS,
        (
            ("wide", batch_size * MIB),
            ("workspace", 5 * MIB),
            (GIVEN_BACK, 1),
            ("narrow", int(0.4 * batch_size * MIB)),
            (GIVEN_BACK, 0),
            (GIVEN_BACK, 3),
        ),
    )


def a_point(batch_size, ratio=1.0):
    trace = a_trace(batch_size)
    peak = round(ratio * max(played([trace])))
    return StepPeak(
        batch_size, (peak,), 0.01, StepKind.TRAIN, (trace.needed_bytes,), (trace, trace)
    )


@pytest.mark.parametrize("batch_size", [7, 64, 100, 1000])
def test_sizes_of_a_batch_that_was_not_tried_follow_from_two_that_were(batch_size):
    [told, _] = forecast_of([a_point(8), a_point(16), a_point(32)]).traces(batch_size)

    assert told.kept_bytes == WEIGHTS
    for (name, size), (real_name, real) in zip(
        told.events, a_trace(batch_size).events, strict=True
    ):
        assert name == real_name
        assert size == pytest.approx(real, abs=batch_size)


def test_loss_of_a_pool_is_that_of_the_real_step():
    pool = PoolPeaks([a_point(16), a_point(32)])
    real = max(played([a_trace(100)]))

    assert real > 1.05 * a_trace(100).needed_bytes
    assert pool.peak_bytes(100) == pytest.approx(real, rel=0.001)
    assert pool.needed_bytes(100) == pytest.approx(a_trace(100).needed_bytes, rel=0.001)


def test_real_pools_that_peak_higher_than_their_forecast_raise_it_and_make_it_less_sure():
    exact, off = (
        PoolPeaks([a_point(16, ratios[0]), a_point(32, ratios[1])]) for ratios in ((1, 1), (1, 1.2))
    )

    assert exact.peak_bytes(64) < off.peak_bytes(64) < 1.2 * exact.peak_bytes(64)
    assert off.spread > 1.5 * exact.spread


def test_allocation_that_only_the_larger_step_made_grows_if_its_size_is_of_whole_samples():
    extra = a_trace(32)
    extra = StepTrace(extra.kept_bytes, (*extra.events, ("more", 32 * 100), ("rest", 33)))
    large = StepPeak(32, (1,), 0.01, StepKind.TRAIN, (1,), (extra,))

    [told] = forecast_of([a_point(16), large]).traces(64)

    assert dict(told.events)["more"] == 64 * 100
    assert dict(told.events)["rest"] == 33


def test_batch_that_does_not_fit_the_pool_is_made_smaller():
    pool = PoolPeaks([a_point(16), a_point(32)])
    limit = max(played([a_trace(100)]))

    found = pool.that_fits(130, limit)

    assert 60 < found <= 100
    assert pool.that_fits(20, limit) == 20


def test_without_traces_peaks_stand_for_themselves():
    pool = PoolPeaks([StepPeak(8, (100,), 0.01), StepPeak(16, (200,), 0.01)])

    assert (pool.peak_bytes(64), pool.needed_bytes(64)) == (None, None)
    assert pool.spread == UNKNOWN_SPREAD
    assert pool.that_fits(64, 1) == 64
