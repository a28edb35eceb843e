"""Points become a line where they are one; where they are none, the reason is said."""

import pytest

from footprints import FIXED, MIB, a_line, a_step, steps
from lowwater.model.footprint import Fixed, StepKind, StepPeak
from lowwater.sizing.curve import fit

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
    widths = [curve.line.half_width_bytes(n) / curve.line.peak_bytes(n) for n in (64, 128, 512)]

    assert widths == sorted(widths)


def test_steps_that_differ_make_a_wider_interval():
    quiet, noisy = (fit(steps(a_line, scatter=one), FIXED).line for one in (0.01, 0.3))

    assert noisy.half_width_bytes(256) > 2 * quiet.half_width_bytes(256)


def test_peak_that_grows_with_the_square_of_the_batch_is_refused():
    told = fit(steps(lambda batch: 30 + batch**2 / 4), FIXED).at(256)

    assert told.peak_bytes is None
    assert told.because == (
        "cannot be extended beyond batch 64, because the peak grows faster the larger the batch is"
    )


def test_peak_that_bends_at_small_batches_only_follows_its_upper_part():
    bent = steps(lambda batch: max(75, 35 + 2 * batch), (8, 16, 32, 64, 128, 256))

    told = fit(bent, NO_GRADIENTS).at(1024)

    assert told.peak_bytes == pytest.approx(a_line(1024) * MIB, rel=0.03)


def test_flat_part_that_the_gradients_make_is_not_extended():
    flat = steps(lambda batch: 50 + batch / 100)

    told = fit(flat, FIXED).at(1024)

    assert told.peak_bytes is None
    assert "the gradients decide the peak" in told.because


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


def seen_with_loss(shares, need=a_line):
    """Steps whose tensors ask for what lies on a line, in a pool that gives out more."""
    asked = ((batch, round(need(batch) * MIB)) for batch in (8, 16, 32, 64))
    return tuple(
        StepPeak(batch, (round(needed * (1 + share)),), 0.01, StepKind.TRAIN, (needed,))
        for (batch, needed), share in zip(asked, shares, strict=True)
    )


def test_what_a_pool_rounds_up_does_not_bend_the_line():
    curve = fit(seen_with_loss((0.02, 0.15, 0.05, 0.18)), FIXED)

    told = curve.at(256)

    assert curve.line.bytes_per_sample == pytest.approx(2 * MIB, rel=0.001)
    assert a_line(256) < told.peak_bytes / MIB < 1.18 * a_line(256)
    low, high = told.interval_bytes
    assert low < a_line(256) * 1.02 * MIB < a_line(256) * 1.18 * MIB < high


def test_no_peak_is_below_what_tensors_ask_for():
    curve = fit(seen_with_loss((0.0, 0.0, 0.0, 0.0)), FIXED)

    low, _ = curve.at(256).interval_bytes

    assert low == pytest.approx(a_line(256) * MIB, rel=0.06)
    assert low > (curve.line.peak_bytes(256) - curve.line.half_width_bytes(256))


def test_need_that_grows_with_the_square_of_the_batch_is_refused_whatever_the_pool_does():
    told = fit(seen_with_loss((0.3, 0.2, 0.1, 0.0), lambda n: 30 + n**2 / 4), FIXED).at(256)

    assert told.peak_bytes is None
    assert "grows faster" in told.because
