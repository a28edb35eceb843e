"""The allocations of a step that nobody made follow from those of two that were made."""

import pytest

from footprints import MIB, a_trace, a_watched_step
from lowwater.model.footprint import StepPeak
from lowwater.model.step_trace import GIVEN_BACK, StepTrace
from lowwater.sizing.forecast import Forecast


def forecast_of(*batches, **options):
    return Forecast([a_watched_step(one, **options) for one in batches])


@pytest.mark.parametrize("batch_size", [7, 64, 100, 1000])
def test_sizes_of_a_batch_that_was_not_tried_follow_from_two_that_were(batch_size):
    [told] = forecast_of(8, 16, 32).traces(batch_size)

    assert told.before_bytes == a_trace(32).before_bytes
    for (name, size), (real_name, real) in zip(
        told.events, a_trace(batch_size).events, strict=True
    ):
        assert name == real_name
        assert size == pytest.approx(real, abs=batch_size)


def test_what_grows_is_counted_where_most_is_asked_for():
    forecast = forecast_of(8, 16, 32)

    assert forecast.growing_bytes(100) == pytest.approx(140 * MIB, rel=0.001)
    # With one sample, the workspace and what is wide are the most that is there at once.
    assert forecast.growing_bytes(1) == MIB


def a_step_with(batch_size, *more):
    trace = a_trace(batch_size)
    trace = StepTrace(trace.before_bytes, (*trace.events, *more))
    return StepPeak(batch_size, (1,), 0.01, traces=(trace,))


def test_allocation_of_one_step_only_grows_like_others_of_its_size():
    """TensorFlow copies weights by chance. 5 MiB are whole samples, but a workspace is as large."""
    steps = [a_watched_step(16), a_step_with(32, ("copy", 5 * MIB), ("as wide", 32 * MIB))]

    [told] = Forecast(steps).traces(64)

    assert told.sizes["copy"] == 5 * MIB
    assert told.sizes["as wide"] == 64 * MIB


def test_allocation_of_one_step_only_grows_with_whole_samples_if_no_other_is_as_large():
    steps = [a_watched_step(16), a_step_with(32, ("more", 32 * 100), ("rest", 33))]

    [told] = Forecast(steps).traces(64)

    assert told.sizes["more"] == 64 * 100
    assert told.sizes["rest"] == 33


def test_largest_batch_tests_what_the_others_say():
    assert forecast_of(8, 16, 32).miss < 0.001
    assert forecast_of(8, 16, 32, square=0.2).miss > 0.1


def test_steps_that_have_other_allocations_say_nothing_of_each_other():
    renamed = (
        StepTrace(0, tuple((name and f"{name} {batch}", size) for name, size in one.events))
        for batch in (8, 16, 32)
        for one in (a_trace(batch),)
    )
    points = [
        StepPeak(batch, (1,), 0.01, traces=(one,))
        for batch, one in zip((8, 16, 32), renamed, strict=True)
    ]

    assert Forecast(points).miss == 1.0


def test_needed_is_the_most_at_once():
    trace = StepTrace(15, (("a", 100), ("b", 50), (GIVEN_BACK, 0), ("c", 70), (GIVEN_BACK, 1)))

    assert trace.needed_bytes == 15 + 150
    assert trace.alive_at_most == ["a", "b"]
    assert StepTrace(10, ()).needed_bytes == 10
    assert StepTrace(10, ()).alive_at_most == []
