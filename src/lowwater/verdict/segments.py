"""A series of marks as a few straight pieces: the one account that all judging reads from.

A level is a piece, and so is a ramp. A step is two levels, a cache that fills is a ramp and a
level, a curve that dies away is ramps that get flatter, a sawtooth is ramps with falls between.
The pieces are those with the least misfit, each further piece being charged for (Schwarz's BIC),
found exactly by dynamic programming.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lowwater.model.policy import POLICY
from lowwater.verdict.series import Floats, Series

_MAD_TO_SIGMA = 1.4826


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Marks `start` to `stop` (exclusive) of a series, and the line through them."""

    start: int
    stop: int
    slope: float
    slope_error: float
    first: float
    last: float

    def __len__(self) -> int:
        """How many marks it has."""
        return self.stop - self.start


def noise_of(series: Series) -> float:
    """How far a mark is off its neighbours' line by chance: a robust standard deviation.

    Not below what malloc's own bookkeeping varies by, nor below a share of the usual step:
    no program adds exactly the same in every round.
    """
    x, y = series.x, series.y
    floor = float(POLICY.noise_bytes)
    if len(y) > 1:
        floor = max(floor, POLICY.noise_share * float(np.median(np.abs(np.diff(y)))))
    if len(y) < 3:  # noqa: PLR2004 - a neighbour on either side
        return floor
    weight = (x[1:-1] - x[:-2]) / (x[2:] - x[:-2])
    off = y[1:-1] - (1 - weight) * y[:-2] - weight * y[2:]
    scaled = np.abs(off) / np.sqrt(1 + weight**2 + (1 - weight) ** 2)
    return max(floor, (1 + 2 / len(scaled)) * _MAD_TO_SIGMA * float(np.median(scaled)))


def slope_error(series: Series, noise: float) -> float:
    """The standard error of a slope through these marks, by noise alone."""
    spread = float(((series.x - series.x.mean()) ** 2).sum()) if len(series) else 0.0
    return noise / float(np.sqrt(spread)) if spread > 0 else float("inf")


def pieces_of(series: Series, noise: float) -> list[Piece]:
    """The straight pieces that account best for the marks, in order."""
    count = len(series)
    if not count:
        return []
    x = series.x - series.x[0]
    y = (series.y - series.y[0]) / noise
    charge = POLICY.piece_charge + 3 * np.log(count)
    best = np.zeros(count + 1)
    cut = np.zeros(count + 1, dtype=np.int64)
    sums = _prefix_sums(x, y)
    for stop in range(1, count + 1):
        costs = best[:stop] + _misfits(sums, stop) + charge
        cut[stop] = int(np.argmin(costs))
        best[stop] = costs[cut[stop]]
    bounds = [count]
    while bounds[-1] > 0:
        bounds.append(int(cut[bounds[-1]]))
    bounds.reverse()
    return [piece_of(series, start, stop, noise) for start, stop in pairwise(bounds)]


def _prefix_sums(x: Floats, y: Floats) -> Floats:
    """The sums of 1, x, y, xx, xy, yy over the first so many marks."""
    columns = np.stack((np.ones_like(x), x, y, x * x, x * y, y * y))
    return np.concatenate((np.zeros((6, 1)), np.cumsum(columns, axis=1)), axis=1)


def _misfits(sums: Floats, stop: int) -> Floats:
    """The squared residuals of the best line through marks `start` to `stop`, for every start."""
    n, sx, sy, sxx, sxy, syy = sums[:, stop : stop + 1] - sums[:, :stop]
    vxx, vxy, vyy = sxx - sx * sx / n, sxy - sx * sy / n, syy - sy * sy / n
    with np.errstate(divide="ignore", invalid="ignore"):
        explained = np.where(vxx > 0, vxy * vxy / vxx, 0.0)
    return np.asarray(np.maximum(vyy - explained, 0.0))


def piece_of(series: Series, start: int, stop: int, noise: float) -> Piece:
    """These marks as one piece."""
    x, y = series.x[start:stop], series.y[start:stop]
    middle, level = float(x.mean()), float(y.mean())
    spread = float(((x - middle) ** 2).sum())
    slope = float(((x - middle) * (y - level)).sum()) / spread if spread > 0 else 0.0
    error = slope_error(Series(x, y), noise)
    first, last = (level + slope * (float(at) - middle) for at in (x[0], x[-1]))
    return Piece(start, stop, slope, error, first, last)


def may_have_stopped(series: Series) -> bool:
    """Whether a ramp that has become level accounts for the marks as well as a line does.

    The level has at least as many marks as a piece needs to be a present of its own.
    """
    return (1 + POLICY.noise_share / 2) * _misfit_of_a_stop(series) <= _misfit(series.x, series.y)


def has_clearly_stopped(series: Series) -> bool:
    """Whether it leaves far less unexplained than a line does."""
    return POLICY.alike * _misfit_of_a_stop(series) <= _misfit(series.x, series.y)


def _misfit_of_a_stop(series: Series) -> float:
    x, y = series.x, series.y
    knots = range(1, len(x) - POLICY.settled_marks + 1)
    return min((_misfit(np.minimum(x, x[knot]), y) for knot in knots), default=np.inf)


def _misfit(x: Floats, y: Floats) -> float:
    """The squared residuals of the best line."""
    dx, dy = x - x.mean(), y - y.mean()
    spread = float((dx**2).sum())
    slope = float((dx * dy).sum()) / spread if spread > 0 else 0.0
    return float(((dy - slope * dx) ** 2).sum())
