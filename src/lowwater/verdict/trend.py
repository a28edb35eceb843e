"""How fast a series rises, and how sure that is: Theil–Sen slope and Mann–Kendall test.

SciPy has both, but `import scipy.stats` takes 0.9 s, longer than many a run that we judge.
So they are written out here; the tests hold them against SciPy and pymannkendall.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowwater.verdict.series import Floats, Series

# The standard normal quantile of a two-sided 95 % interval.
_Z_95 = 1.959963984540054
# Beyond this many points the normal approximation of Mann–Kendall is good to three digits.
_EXACT_UP_TO = 30
# With fewer points the autocorrelation of the residuals is itself mostly noise.
_POINTS_FOR_MEMORY = 8
# From here on noise that adds up looks the same as noise that fades.
_WALKS = 0.4


@dataclass(frozen=True, slots=True)
class Trend:
    """A slope per round with its 95 % interval, and the chance of such a rise by accident."""

    slope: float
    low: float
    high: float
    p_rising: float


def trend(series: Series) -> Trend:
    """The robust trend of the marks; the interval allows for noise that remembers."""
    pairs = _pairs(series)
    if not len(pairs[0]):
        return Trend(0.0, -math.inf, math.inf, 1.0)
    slope, low, high = theil_sen(series)
    wider, least = _allowance(series, slope)
    down, up = max(wider * (slope - low), least), max(wider * (high - slope), least)
    return Trend(slope, slope - down, slope + up, mann_kendall(series))


def theil_sen(series: Series) -> tuple[float, float, float]:
    """The median of all pairwise slopes, with its 95 % interval after Sen (1968)."""
    i, j = _pairs(series)
    slopes = np.sort((series.y[j] - series.y[i]) / (series.x[j] - series.x[i]))
    spread = _Z_95 * math.sqrt(sum(_variance_of_s(part) for part in _parts(series)))
    count = len(slopes)
    upper = min(round((count + spread) / 2), count - 1)
    lower = max(round((count - spread) / 2) - 1, 0)
    return float(np.median(slopes)), float(slopes[lower]), float(slopes[upper])


def mann_kendall(series: Series) -> float:
    """The chance that marks without a trend would rise as consistently as these."""
    i, j = _pairs(series)
    s = int(np.sign(series.y[j] - series.y[i]).sum())
    parts = _parts(series)
    if len(series) <= _EXACT_UP_TO and all(len(np.unique(y)) == len(y) for y in parts):
        return _exact_tail([len(y) for y in parts], s)
    variance = sum(_variance_of_s(y) for y in parts)
    z = (s - np.sign(s)) / math.sqrt(variance) if variance > 0 else 0.0
    return 0.5 * math.erfc(z / math.sqrt(2))


def _pairs(series: Series) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The indices of all pairs of marks that can be compared: at different rounds, no break."""
    i, j = np.triu_indices(len(series), 1)
    parts = series.parts
    comparable = (series.x[i] != series.x[j]) & (parts[i] == parts[j])
    return i[comparable], j[comparable]


def _parts(series: Series) -> list[Floats]:
    """The values between the breaks."""
    parts = series.parts
    return [series.y[parts == part] for part in np.unique(parts)]


def _exact_tail(counts: list[int], s: int) -> float:
    """The share of all orders of the marks, part by part, whose S is at least `s`."""
    orders = np.ones(1)
    # The number of orders by discordant pairs: the k-th mark can be discordant with 0..k-1.
    for k in (k for count in counts for k in range(2, count + 1)):
        orders = np.convolve(orders, np.full(k, 1 / k))
    discordant = (len(orders) - 1 - s) // 2
    return float(min(1.0, orders[: discordant + 1].sum()))


def _variance_of_s(y: Floats) -> float:
    """The variance of Mann–Kendall's S, with the correction for ties."""
    count = len(y)
    ties = np.unique(y, return_counts=True)[1].astype(np.float64)
    tied = float((ties * (ties - 1) * (2 * ties + 5)).sum())
    return (count * (count - 1) * (2 * count + 5) - tied) / 18


def _allowance(series: Series, slope: float) -> tuple[float, float]:
    """How much wider, and how wide at least, the interval is when noise carries over.

    Noise that fades from round to round (autoregressive) makes a slope less certain by a factor.
    Noise that adds up (a random walk) has as much slope by chance as its steps allow.
    """
    residuals = _residuals(series, slope)
    carried = _carried(residuals)
    wider = math.sqrt((1 + carried) / (1 - carried))
    if carried < _WALKS:
        return wider, 0.0
    steps = np.diff(residuals) / np.sqrt(np.diff(series.x))
    return wider, _Z_95 * float(np.std(steps)) / math.sqrt(series.span)


def _residuals(series: Series, slope: float) -> Floats:
    """What the slope leaves over, each part around its own level."""
    left = series.y - slope * series.x
    parts = series.parts
    levels = {part: left[parts == part].mean() for part in np.unique(parts)}
    return np.asarray(left - np.array([levels[part] for part in parts]))


def _carried(residuals: Floats) -> float:
    """The share of a round's noise that is still there in the next round."""
    if len(residuals) < _POINTS_FOR_MEMORY:
        return 0.0
    power = float((residuals**2).sum())
    carried = float((residuals[1:] * residuals[:-1]).sum()) / power if power > 0 else 0.0
    return min(max(carried, 0.0), 0.9)
