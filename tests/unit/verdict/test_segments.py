"""The straight pieces of clean and of noisy series."""

import numpy as np
import pytest

from lowwater.verdict.segments import may_have_stopped, noise_of, pieces_of
from lowwater.verdict.series import Series

MIB = float(1 << 20)
ROUNDS = np.arange(24.0)
LINE = 4 * ROUNDS
STEP = 40.0 * (ROUNDS >= 12)
STOPPED = np.minimum(4 * ROUNDS, 40)
LATE = np.maximum(4 * (ROUNDS - 12), 0)
TEETH = 8 * (ROUNDS % 8)


def marks(mib, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    y = np.asarray(mib, dtype=np.float64) + noise * rng.normal(0, 1, len(mib))
    return Series(np.arange(3.0, 3 + len(y)), (200 + y) * MIB)


def cuts(series):
    return [float(series.x[piece.start]) for piece in pieces_of(series, noise_of(series))[1:]]


@pytest.mark.parametrize(
    ("mib", "expected"),
    [
        (0 * ROUNDS, []),
        (LINE, []),
        (-LINE, []),
        (STEP, [15]),
        (STOPPED, [13]),
        (LATE, [16]),
        (TEETH, [11, 19]),
    ],
    ids=["level", "line", "fall", "step", "ramp that stops", "late ramp", "teeth"],
)
def test_clean_series_is_cut_where_it_changes(mib, expected):
    assert cuts(marks(mib)) == pytest.approx(expected, abs=1)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("count", [12, 24, 60])
def test_noise_around_a_line_makes_no_piece(seed, count):
    assert cuts(marks(0.5 * np.arange(count), noise=2.0, seed=seed)) == []


@pytest.mark.parametrize("seed", range(5))
def test_noisy_step_is_cut_once(seed):
    assert cuts(marks(STEP, noise=2.0, seed=seed)) == [15]


def test_piece_knows_its_line():
    [piece] = pieces_of(marks(LINE), MIB)

    assert piece.slope == pytest.approx(4 * MIB)
    assert (piece.first, piece.last) == (pytest.approx(200 * MIB), pytest.approx(292 * MIB))


def test_noise_is_that_of_the_marks_around_their_trend():
    many = marks(4 * np.arange(400), noise=2.0)

    assert noise_of(many) == pytest.approx(2 * MIB, rel=0.15)


@pytest.mark.parametrize(("mib", "least"), [(0 * ROUNDS, 16 << 10), (LINE, 0.8 * MIB)])
def test_noise_has_a_floor(mib, least):
    assert noise_of(marks(mib)) == pytest.approx(least)


def test_nothing_has_no_pieces():
    assert pieces_of(marks([]), 1.0) == []


@pytest.mark.parametrize(("level", "expected"), [(0, False), (1, False), (4, True), (8, True)])
def test_a_line_is_told_from_a_ramp_that_has_been_level_for_a_while(level, expected):
    ramp = np.concatenate((np.arange(12.0), np.full(level, 11.0)))

    assert may_have_stopped(marks(ramp)) is expected
