"""Points become a line where they are one; where they are none, the reason is said."""

import pytest

from footprints import FIXED, MIB, a_line, a_step, steps
from lowwater.model.footprint import Fixed, StepKind
from lowwater.sizing.curve import curve_of

NO_GRADIENTS = Fixed(0, 0, 0)


def test_points_on_a_line_are_extended_along_it():
    told = curve_of(steps(a_line), FIXED).at(256)

    assert told.peak_bytes == pytest.approx(a_line(256) * MIB, rel=0.001)
    assert not told.is_measured
    low, high = told.interval_bytes
    assert low < a_line(256) * MIB < high


def test_measured_batch_is_not_estimated():
    told = curve_of(steps(a_line), FIXED).at(32)

    assert (told.peak_bytes, told.is_measured) == (a_line(32) * MIB, True)


def test_interval_widens_with_the_distance():
    line = curve_of(steps(a_line), FIXED).extension
    widths = [line.half_width_bytes(n) / line.peak_bytes(n) for n in (64, 128, 512)]

    assert widths == sorted(widths)


def test_steps_that_differ_make_a_wider_interval():
    quiet, noisy = (curve_of(steps(a_line, scatter=one), FIXED) for one in (0.01, 0.3))

    assert noisy.extension.half_width_bytes(1024) > 2 * quiet.extension.half_width_bytes(1024)


def test_peak_that_grows_with_the_square_of_the_batch_is_refused():
    told = curve_of(steps(lambda batch: 30 + batch**2 / 4), FIXED).at(256)

    assert told.peak_bytes is None
    assert told.because == (
        "cannot be predicted beyond batch 64, because the peak grows faster than the batch"
    )


def test_peak_that_bends_at_small_batches_only_follows_its_upper_part():
    bent = steps(lambda batch: max(75, 35 + 2 * batch), (8, 16, 32, 64, 128, 256))

    told = curve_of(bent, NO_GRADIENTS).at(1024)

    assert told.peak_bytes == pytest.approx(a_line(1024) * MIB, rel=0.03)


def test_flat_part_that_the_gradients_make_is_not_extended():
    flat = steps(lambda batch: 50 + batch / 100)

    told = curve_of(flat, FIXED).at(1024)

    assert told.peak_bytes is None
    assert "gradients set the peak" in told.because


def test_batches_above_the_gradients_show_how_activations_grow():
    hidden = steps(lambda batch: max(50, 32 + batch / 4), (8, 16, 32, 128, 256, 512, 1024))

    told = curve_of(hidden, FIXED).at(4096)

    assert told.peak_bytes == pytest.approx((32 + 1024) * MIB, rel=0.02)


def test_inference_has_no_gradients_that_hide_it():
    flat = steps(lambda batch: 31 + batch / 100, kind=StepKind.PREDICT)

    assert curve_of(flat, FIXED).at(256).peak_bytes == pytest.approx(33.56 * MIB, rel=0.01)


def test_two_points_are_not_enough():
    told = curve_of(steps(a_line, (8, 16)), FIXED).at(64)

    assert told.because.endswith("because only 2 batch sizes could be measured")


def test_last_point_that_is_off_the_line_of_the_others_refuses_it():
    on, off = (
        curve_of([*steps(a_line, (8, 16, 32)), a_step(64, share * a_line(64))], FIXED)
        for share in (1.05, 1.4)
    )

    assert on.why_not == ""
    assert off.why_not == "the peak grows faster than the batch"


def test_line_is_not_sure_before_its_points_lie_close():
    assert curve_of(steps(a_line), FIXED).is_sure
    assert not curve_of(steps(a_line, (8, 16)), FIXED).is_sure
    assert not curve_of(steps(a_line, scatter=0.9), FIXED).is_sure
