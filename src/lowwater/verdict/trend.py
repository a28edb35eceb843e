"""How fast a series rises, and how sure that is: Theil–Sen slope and Mann–Kendall test.

SciPy has both, but `import scipy.stats` takes 0.9 s, longer than many a run that we judge.
So they are written out here; the tests hold them against SciPy and pymannkendall.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The standard normal quantile of a two-sided 95 % interval.
_Z_95 = 1.959963984540054
# Beyond this many points the normal approximation of Mann–Kendall is good to three digits.
_EXACT_UP_TO = 30
# With fewer points the autocorrelation of the residuals is itself mostly noise.
_POINTS_FOR_MEMORY = 20


@dataclass(frozen=True, slots=True)
class Trend:
    """A slope per round with its 95 % interval, and the chance of such a rise by accident."""

    slope: float
    low: float
    high: float
    p_rising: float


def trend(x: Floats, y: Floats) -> Trend:
    """The robust trend of `y` over `x`; the interval allows for noise that remembers."""
    if len(x) < 2 or x[0] == x[-1]:
        return Trend(0.0, -math.inf, math.inf, 1.0)
    slope, low, high = theil_sen(x, y)
    wider = _memory_factor(y - slope * x)
    return Trend(
        slope, slope - wider * (slope - low), slope + wider * (high - slope), mann_kendall(y)
    )


def theil_sen(x: Floats, y: Floats) -> tuple[float, float, float]:
    """The median of all pairwise slopes, with its 95 % interval after Sen (1968)."""
    i, j = np.triu_indices(len(x), 1)
    apart = x[j] != x[i]
    slopes = np.sort((y[j] - y[i])[apart] / (x[j] - x[i])[apart])
    spread = _Z_95 * math.sqrt(_variance_of_s(y))
    count = len(slopes)
    upper = min(round((count + spread) / 2), count - 1)
    lower = max(round((count - spread) / 2) - 1, 0)
    return float(np.median(slopes)), float(slopes[lower]), float(slopes[upper])


def mann_kendall(y: Floats) -> float:
    """The chance that a series without a trend would rise as consistently as `y`."""
    count = len(y)
    i, j = np.triu_indices(count, 1)
    s = int(np.sign(y[j] - y[i]).sum())
    if count <= _EXACT_UP_TO and len(np.unique(y)) == count:
        return _exact_tail(count, s)
    variance = _variance_of_s(y)
    z = (s - np.sign(s)) / math.sqrt(variance) if variance > 0 else 0.0
    return 0.5 * math.erfc(z / math.sqrt(2))


def _exact_tail(count: int, s: int) -> float:
    """The share of all orders of `count` points whose S is at least `s`."""
    orders = np.ones(1)
    # The number of orders by discordant pairs: the k-th point can be discordant with 0..k-1.
    for k in range(2, count + 1):
        orders = np.convolve(orders, np.full(k, 1 / k))
    discordant = (count * (count - 1) // 2 - s) // 2
    return float(min(1.0, orders[: discordant + 1].sum()))


def _variance_of_s(y: Floats) -> float:
    """The variance of Mann–Kendall's S, with the correction for ties."""
    count = len(y)
    ties = np.unique(y, return_counts=True)[1].astype(float)
    tied = float((ties * (ties - 1) * (2 * ties + 5)).sum())
    return (count * (count - 1) * (2 * count + 5) - tied) / 18


def _memory_factor(residuals: Floats) -> float:
    """How much wider the interval is when the noise of a round carries over to the next."""
    if len(residuals) < _POINTS_FOR_MEMORY:
        return 1.0
    centred = residuals - residuals.mean()
    power = float((centred**2).sum())
    carried = float((centred[1:] * centred[:-1]).sum()) / power if power > 0 else 0.0
    carried = min(max(carried, 0.0), 0.9)
    return math.sqrt((1 + carried) / (1 - carried))
