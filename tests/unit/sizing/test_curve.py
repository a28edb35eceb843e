"""Points become a line where they are one; where they are none, the reason is said."""

import pytest

from footprints import FIXED, MIB, a_line, a_step, steps
from lowwater.model.footprint import Fixed, StepKind, StepPeak
from lowwater.model.step_trace import StepTrace
from lowwater.sizing.curve import fit
from lowwater.sizing.forecast import played

NO_GRADIENTS = Fixed(0, 0, 0)


def test_points_on_a_line_are_extended_along_it():
    told = fit(steps(a_line), FIXED).at(256)

    assert told.peak_bytes == pytest.approx(a_line(256) * MIB, rel=0.001)
    assert not told.is_measured
    low, high = told.interval_bytes
    assert low < a_line(256) * MIB < high


def test_measured_batch_is_not_estimated():
    told = fit(steps(a_line), FIXED).at(32)

    assert (told.peak_bytes, told.is_measured) == (a_line(32) * MIB, True)


def test_interval_widens_with_the_distance():
    curve = fit(steps(a_line), FIXED)
    widths = [curve.line.half_width_bytes(n) / curve.line.needed_bytes(n) for n in (64, 128, 512)]

    assert widths == sorted(widths)


def test_steps_that_differ_make_a_wider_interval():
    quiet, noisy = (fit(steps(a_line, scatter=one), FIXED).line for one in (0.01, 0.3))

    assert noisy.half_width_bytes(256) > 2 * quiet.half_width_bytes(256)


def test_peak_that_grows_with_the_square_of_the_batch_is_refused():
    told = fit(steps(lambda batch: 30 + batch**2 / 4), FIXED).at(256)

    assert told.peak_bytes is None
    assert told.because == (
        "cannot be predicted beyond batch 64, because the peak grows faster than the batch"
    )


def test_peak_that_bends_at_small_batches_only_follows_its_upper_part():
    bent = steps(lambda batch: max(75, 35 + 2 * batch), (8, 16, 32, 64, 128, 256))

    told = fit(bent, NO_GRADIENTS).at(1024)

    assert told.peak_bytes == pytest.approx(a_line(1024) * MIB, rel=0.03)


def test_flat_part_that_the_gradients_make_is_not_extended():
    flat = steps(lambda batch: 50 + batch / 100)

    told = fit(flat, FIXED).at(1024)

    assert told.peak_bytes is None
    assert "gradients set the peak" in told.because


def test_batches_above_the_gradients_show_how_activations_grow():
    hidden = steps(lambda batch: max(50, 32 + batch / 4), (8, 16, 32, 128, 256, 512, 1024))

    told = fit(hidden, FIXED).at(4096)

    assert told.peak_bytes == pytest.approx((32 + 1024) * MIB, rel=0.02)


def test_inference_has_no_gradients_that_hide_it():
    flat = steps(lambda batch: 31 + batch / 100, kind=StepKind.PREDICT)

    assert fit(flat, FIXED).at(256).peak_bytes == pytest.approx(33.56 * MIB, rel=0.01)


def test_two_points_are_not_enough():
    told = fit(steps(a_line, (8, 16)), FIXED).at(64)

    assert told.because.endswith("because only 2 batch sizes could be measured")


def test_last_point_tests_the_line_of_the_others():
    curve = fit([*steps(a_line, (8, 16, 32)), a_step(64, 1.05 * a_line(64))], FIXED)

    assert curve.miss == pytest.approx(0.05, rel=0.15)


def seen(need, batches=(8, 16, 32, 64), shares=(0, 0, 0, 0)):
    """Steps of one large tensor, in a pool that gives out more than a simulated one."""
    for batch, share in zip(batches, shares, strict=True):
        needed = round(need(batch) * MIB)
        trace = StepTrace((round(need(0) * MIB),), (("tensor", needed - round(need(0) * MIB)),))
        peak = round(max(played([trace])) * (1 + share))
        yield StepPeak(batch, (peak,), 0.01, StepKind.TRAIN, (needed,), (trace,))


def test_what_a_pool_rounds_up_does_not_bend_the_line():
    curve = fit([*seen(a_line, shares=(0.02, 0.15, 0.05, 0.18))], FIXED)

    told = curve.at(256)

    assert curve.line.bytes_per_sample == pytest.approx(2 * MIB, rel=0.001)
    low, high = told.interval_bytes
    assert a_line(256) * MIB < told.peak_bytes < 1.25 * a_line(256) * MIB < high
    # No pool gives out less than it is asked for.
    assert low > 0.95 * a_line(256) * MIB


def test_batch_for_a_limit_leaves_room_for_what_the_pool_rounds_up():
    exact, rounding = (
        fit([*seen(a_line, shares=shares)], FIXED)
        for shares in ((0, 0, 0, 0), (0.2, 0.2, 0.2, 0.2))
    )

    # All of the tensor's region would be given out: 60 MiB less are not free to be split off.
    assert 400 < exact.batch_that_takes(1000 * MIB) < 482
    assert rounding.batch_that_takes(1000 * MIB) < 0.93 * exact.batch_that_takes(1000 * MIB)


def test_need_that_grows_with_the_square_of_the_batch_is_refused_whatever_the_pool_does():
    points = seen(lambda n: 30 + n**2 / 4, shares=(0.3, 0.2, 0.1, 0.0))

    told = fit([*points], FIXED).at(256)

    assert told.peak_bytes is None
    assert "grows faster" in told.because
