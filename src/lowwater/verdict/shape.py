"""Which shape a series of low-water marks has: small models compete for the best account of it.

Each model is charged for what it leaves unexplained and for its parameters (Schwarz's BIC).
A line is only called a line if it also passes the trend test, so noise alone stays flat.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from lowwater.verdict.growth import regular
from lowwater.verdict.jumps import despiked
from lowwater.verdict.series import Floats, Series
from lowwater.verdict.trend import trend

# Departures smaller than this are not worth a more complicated model.
_NEGLIGIBLE_SHARE = 0.01
_NEGLIGIBLE_BYTES = 16 * 1024
# The place of a knot is searched for, so it fits some noise. Charged like this, a true line
# under noise loses to a knot in less than 1 of 100 series (measured: 60 rounds, R² = 0.6).
_PARAMETERS_OF_A_KNOT = 2
_SURCHARGE_OF_A_KNOT = 4.0
# A step and a line can stand in for each other: both at once need the better evidence.
_SURCHARGE_OF_BOTH = 6.0
_KNOTS_TRIED = 40
_MARKS_BESIDE_A_KNOT = 2
_FEWEST_MARKS = 4
# A tail must be this long to speak against the ramp before it.
_MARKS_OF_A_TAIL = 8
_MARKS_OF_A_NOISY_TAIL = 12
_MARKS_OF_A_LEVEL = 3
# A later rate below half of the earlier one is slower, below an eighth it has all but stopped.
_SLOWER = 0.5
_STOPPED = 0.125
# A fall that takes back this share of the range is more than scatter.
_FALL_SHARE = 0.3
# Five marks that all rise do so by chance in 1 of 120 series: that must do for a short run.
_BY_CHANCE = 0.01
# When a saturating curve has two thirds of its way behind it, as shares of the run.
_TIME_CONSTANTS = (0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.9)


class Shape(StrEnum):
    """What the low-water marks did over the run."""

    FLAT = "flat"
    STEP = "step"
    STOPPED = "ramp that stopped"
    SLOWING = "ramp that slows down"
    LINE = "line"
    LATE = "late ramp"
    FELL = "ramp that fell back"


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """A shape, and the marks since the memory behaves as it does at the end, without a step."""

    shape: Shape
    present: Series


@dataclass(frozen=True, slots=True)
class _Account:
    """One model, fitted: what it costs to describe the marks with it, and what it says."""

    name: str
    cost: float
    knot: float
    step: float
    early: float
    late: float


def read_shape(series: Series) -> Form:
    """The shape that accounts best for the marks."""
    if len(series) < _FEWEST_MARKS or series.span == 0:
        return Form(Shape.FLAT, series)
    smooth = despiked(series)
    best = min(_accounts(smooth), key=lambda account: account.cost)
    return _READERS[best.name](best, smooth)


def rises(series: Series) -> bool:
    """Whether the marks rise more consistently than chance would let them."""
    found = trend(series)
    return found.p_rising <= _BY_CHANCE and found.low > 0


def _accounts(series: Series) -> Iterator[_Account]:
    u = (series.x - series.x[0]) / series.span
    y = series.y
    one, none = np.ones_like(u), (0, 0, 0)
    yield _fit("constant", y, (one,), none)
    yield _fit("line", y, (one, u), (0, 1, 1))
    for constant in _TIME_CONSTANTS:
        curve = 1 - np.exp(-u / constant)
        yield _fit("saturation", y, (one, curve), (0, 1, 0), constant)
    for k in _knots(len(u)):
        at, where = float(u[k]), float(series.x[k])
        after = (u >= at).astype(np.float64)
        left, right = np.minimum(u, at), np.maximum(u - at, 0.0)
        yield _fit("step", y, (one, after), (1, 0, 0), where)
        yield _fit("step and line", y, (one, after, u), (1, 2, 2), where)
        yield _fit("two slopes", y, (one, left), (0, 1, 0), where)
        yield _fit("two slopes", y, (one, right), (0, 0, 1), where)
        yield _fit("two slopes", y, (one, left, right), (0, 1, 2), where)


def _knots(count: int) -> list[int]:
    first, last = _MARKS_BESIDE_A_KNOT, count - _MARKS_BESIDE_A_KNOT
    tried = np.linspace(first, last, min(_KNOTS_TRIED, last - first + 1))
    return sorted(set(tried.round().astype(int).tolist()))


def _fit(
    name: str,
    y: Floats,
    columns: tuple[Floats, ...],
    meaning: tuple[int, int, int],
    knot: float | None = None,
) -> _Account:
    """Fit by least squares; `meaning` says which columns are the step and the two slopes."""
    design = np.column_stack(columns)
    weights = np.linalg.lstsq(design, y, rcond=None)[0]
    step, early, late = (float(weights[i]) if i else 0.0 for i in meaning)
    cost = _cost(y, y - design @ weights, len(columns))
    if knot is not None:
        both = step != 0 and early != 0
        cost += _PARAMETERS_OF_A_KNOT * float(np.log(len(y)))
        cost += _SURCHARGE_OF_BOTH if both else _SURCHARGE_OF_A_KNOT
    return _Account(name, cost, knot or 0.0, step, early, late)


def _cost(y: Floats, residuals: Floats, parameters: int) -> float:
    count = len(y)
    negligible = max(_NEGLIGIBLE_BYTES, _NEGLIGIBLE_SHARE * float(np.ptp(y)))
    variance = float((residuals**2).sum()) / max(count - parameters, 1) + negligible**2
    return float(count * np.log(variance) + parameters * np.log(count))


def _read_constant(_: _Account, series: Series) -> Form:
    return Form(Shape.FLAT, series)


def _read_line(_: _Account, series: Series) -> Form:
    if not rises(series):
        return Form(Shape.FLAT, series)
    if len(series) < _MARKS_OF_A_TAIL + 1:
        return Form(Shape.LINE, series)
    # The slope of the whole must still be possible in the last third.
    tail = series.skip(2 * len(series) // 3)
    rate, late = trend(series).slope, trend(tail).high
    if late >= _SLOWER * rate:
        return Form(Shape.LINE, series)
    return Form(Shape.STOPPED if late <= _STOPPED * rate else Shape.SLOWING, tail)


def _read_step(best: _Account, series: Series) -> Form:
    after = series.since(best.knot)
    return Form(Shape.STEP if best.step > 0 else Shape.FLAT, after)


def _read_step_and_line(best: _Account, series: Series) -> Form:
    lifted = best.step * (series.x >= best.knot)
    level = Series(series.x, series.y - lifted, (*series.breaks, best.knot))
    if best.early <= 0 or not rises(level):
        return _read_step(best, series)
    if best.step < -_FALL_SHARE * float(np.ptp(series.y)):
        return Form(Shape.FELL, series.since(best.knot))
    return _read_line(best, level)


def _read_saturation(best: _Account, series: Series) -> Form:
    """A smooth approach to a level; `knot` is its time constant."""
    present = series.skip(2 * len(series) // 3)
    if best.early <= 0:
        return Form(Shape.FLAT, present)
    left = np.exp(-1 / best.knot)
    return Form(Shape.STOPPED if left <= _STOPPED else Shape.SLOWING, present)


def _is_long(tail: Series) -> bool:
    """Whether a tail can be a line of its own, and not just the slow end of a curve."""
    least = _MARKS_OF_A_TAIL if regular(tail) else _MARKS_OF_A_NOISY_TAIL
    return len(tail) >= least


def _read_two_slopes(best: _Account, series: Series) -> Form:
    present = series.since(best.knot)
    if best.late > 0 and best.early < _STOPPED * best.late:
        return Form(Shape.LATE, present)
    if best.late >= _SLOWER * best.early:
        return Form(Shape.LINE, series)
    if _is_long(present) and (tail := read_shape(present)).shape is Shape.LINE:
        return tail
    # A single round without growth is a pause.
    stopped = best.late <= _STOPPED * best.early and len(present) >= _MARKS_OF_A_LEVEL
    return Form(Shape.STOPPED if stopped else Shape.SLOWING, present)


_READERS = {
    "constant": _read_constant,
    "line": _read_line,
    "step": _read_step,
    "step and line": _read_step_and_line,
    "two slopes": _read_two_slopes,
    "saturation": _read_saturation,
}
