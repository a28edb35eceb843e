"""The shape of clean and of noisy series, each next to the shape it must not be taken for."""

import numpy as np
import pytest

from lowwater.verdict.jumps import despiked, find_jumps, sawtooth_lows, without_jumps
from lowwater.verdict.series import Series
from lowwater.verdict.shape import Shape, read_shape, rises
from lowwater.verdict.trend import mann_kendall, trend

MIB = float(1 << 20)
ROUNDS = np.arange(24.0)


def marks(mib, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    y = np.asarray(mib, dtype=np.float64) + rng.normal(0, noise, len(mib)) * (noise > 0)
    return Series(np.arange(3.0, 3 + len(y)), (200 + y) * MIB)


LINE = 4 * ROUNDS
STEP = 40.0 * (ROUNDS >= 12)
STOPPED = np.minimum(4 * ROUNDS, 40)
LATE = np.maximum(4 * (ROUNDS - 12), 0)
SLOWING = 60 * (1 - np.exp(-ROUNDS / 18))
SATURATED = 60 * (1 - np.exp(-ROUNDS / 5))
FELL = 4 * (ROUNDS % 13)
SHAPES = [
    (Shape.FLAT, 0 * ROUNDS),
    (Shape.FLAT, -LINE),
    (Shape.LINE, LINE),
    (Shape.STEP, STEP),
    (Shape.LINE, LINE + STEP),
    (Shape.STOPPED, STOPPED),
    (Shape.STOPPED, SATURATED),
    (Shape.SLOWING, SLOWING),
    (Shape.LATE, LATE),
    (Shape.FELL, FELL),
]


@pytest.mark.parametrize(("shape", "mib"), SHAPES)
def test_clean_series_has_its_shape(shape, mib):
    assert read_shape(marks(mib)).shape is shape


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("shape", "mib"), [case for case in SHAPES if case[0] is not Shape.SLOWING]
)
def test_series_under_noise_keeps_its_shape(shape, mib, seed):
    assert read_shape(marks(mib, noise=0.5, seed=seed)).shape is shape


def test_a_line_that_goes_on_after_a_ramp_is_a_line():
    present = read_shape(marks(np.minimum(20 * ROUNDS, 100) + 2 * ROUNDS)).present

    assert present.x[0] == 8
    assert np.diff(present.y) == pytest.approx(2 * MIB)


def test_one_round_without_growth_has_not_stopped():
    assert read_shape(marks(np.minimum(LINE, LINE[-2]))).shape is Shape.SLOWING


def test_growth_that_gains_speed_is_a_line():
    assert read_shape(marks(0.5 * ROUNDS**2)).shape is Shape.LINE


def test_five_marks_rise_only_if_all_of_them_do():
    assert rises(marks([0, 1, 2, 3, 4]))
    assert not rises(marks([0, 2, 1, 3, 4]))


def test_an_order_that_chance_gives_in_one_of_64_series_is_not_a_rise():
    unsteady = marks([1, 2, 0, 3, 5, 6, 7, 4])

    assert trend(unsteady).low > 0
    assert mann_kendall(unsteady) == pytest.approx(1 / 64, rel=0.01)
    assert not rises(unsteady)


def test_three_marks_have_no_shape():
    assert read_shape(marks([0, 10, 20])).shape is Shape.FLAT


def test_a_single_spike_is_cut_down_to_its_neighbour():
    spiked = marks([0, 1, 0, 60, 1, 0, 1])

    assert despiked(spiked).y.max() == pytest.approx(201 * MIB)


def test_a_level_that_stays_is_not_cut_down():
    risen = marks([0, 1, 0, 60, 61, 60, 61])

    assert despiked(risen).y.max() == pytest.approx(261 * MIB)


def test_jumps_are_taken_out_of_a_line():
    line = marks(LINE + 30 * (ROUNDS >= 8) + 60 * (ROUNDS >= 16))

    jumps = find_jumps(line)
    between = without_jumps(line, jumps)

    assert jumps.after == (7, 15)
    assert jumps.total == pytest.approx(90 * MIB)
    assert np.diff(between.y) == pytest.approx(4 * MIB)
    assert between.breaks == (11.0, 19.0)


def test_a_ramp_is_no_row_of_jumps():
    assert not find_jumps(marks(np.minimum(10 * ROUNDS, 50))).after


def test_an_outlier_that_does_not_last_is_no_jump():
    assert not find_jumps(marks(20.0 * (ROUNDS == 10))).after


def test_the_lows_of_a_sawtooth_are_found():
    lows = sawtooth_lows(marks(10 * (ROUNDS % 6)))

    assert lows.x.tolist() == [9, 15, 21]
    assert lows.y == pytest.approx(200 * MIB)


@pytest.mark.parametrize("seed", range(20))
def test_noise_is_no_sawtooth(seed):
    assert len(sawtooth_lows(marks(0 * ROUNDS, noise=10, seed=seed))) == 0
