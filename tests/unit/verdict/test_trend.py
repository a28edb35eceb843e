"""Our twenty lines of statistics against the libraries that have them."""

import numpy as np
import pymannkendall
import pytest
from scipy import stats

from lowwater.verdict.series import Series
from lowwater.verdict.trend import mann_kendall, theil_sen, trend


def a_series(seed, *, count, slope=0.1, rounded=False):
    rng = np.random.default_rng(seed)
    x = np.cumsum(rng.integers(1, 4, count)).astype(np.float64)
    y = rng.normal(size=count) + slope * x
    return Series(x, np.round(y) if rounded else y)


@pytest.mark.parametrize("count", [4, 7, 12, 30, 80])
@pytest.mark.parametrize("rounded", [False, True], ids=["distinct", "tied"])
def test_slope_and_interval_are_those_of_scipy(count, rounded):
    for seed in range(10):
        series = a_series(seed, count=count, rounded=rounded)

        expected = stats.theilslopes(series.y, series.x)

        assert theil_sen(series) == pytest.approx((expected[0], expected[2], expected[3]))


@pytest.mark.parametrize("count", [4, 5, 9, 20, 30])
def test_chance_of_a_short_series_is_exact_as_in_scipy(count):
    for seed in range(10):
        series = a_series(seed, count=count)

        expected = stats.kendalltau(series.x, series.y, method="exact", alternative="greater")

        assert mann_kendall(series) == pytest.approx(expected.pvalue, abs=1e-12)


@pytest.mark.parametrize(("count", "rounded"), [(31, False), (60, False), (12, True), (60, True)])
def test_chance_of_a_long_or_tied_series_is_that_of_pymannkendall(count, rounded):
    for seed in range(10):
        series = a_series(seed, count=count, slope=0.02, rounded=rounded)

        expected = pymannkendall.original_test(series.y)
        one_sided = expected.p / 2 if expected.s > 0 else 1 - expected.p / 2

        assert mann_kendall(series) == pytest.approx(one_sided, abs=1e-9)


def test_five_marks_that_all_rise_do_so_by_chance_in_one_of_120_orders():
    rising = Series(np.arange(5.0), np.array([1.0, 2.0, 5.0, 7.0, 8.0]))

    assert mann_kendall(rising) == pytest.approx(1 / 120)


def test_marks_on_different_sides_of_a_break_are_not_compared():
    jump = Series(np.arange(8.0), np.array([0.0, 0, 0, 0, 9, 9, 9, 9]), breaks=(4.0,))

    assert trend(jump).slope == 0
    assert mann_kendall(jump) == 0.5


def test_a_line_on_both_sides_of_a_break_keeps_its_slope():
    x = np.arange(10.0)
    line = Series(x, 2 * x + 50 * (x >= 5), breaks=(5.0,))

    found = trend(line)

    assert (found.slope, found.low, found.high) == (2, 2, 2)
    assert found.p_rising == pytest.approx(1 / (120 * 120))


def test_noise_that_adds_up_makes_the_interval_wider_than_noise_that_does_not():
    rng = np.random.default_rng(3)
    x, steps = np.arange(60.0), rng.normal(size=60)

    fades = trend(Series(x, steps))
    adds_up = trend(Series(x, np.cumsum(steps)))

    assert theil_sen(Series(x, steps))[1:] == pytest.approx((fades.low, fades.high), rel=0.3)
    assert adds_up.low < 0 < adds_up.high
    assert adds_up.high - adds_up.low > 5 * (fades.high - fades.low)


@pytest.mark.parametrize("count", [0, 1])
def test_a_single_mark_has_no_trend(count):
    found = trend(Series(np.zeros(count), np.zeros(count)))

    assert found.slope == 0
    assert found.p_rising == 1
    assert found.low == -np.inf
