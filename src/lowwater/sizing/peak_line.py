"""The line through the peaks, where nothing but peaks is known: on JAX and torch."""

from collections.abc import Sequence
from functools import cached_property
from statistics import fmean
from typing import NamedTuple

from lowwater.model.footprint import Fixed, StepKind, StepPeak
from lowwater.sizing.extension import FEWEST

# How right lines are with these numbers is in docs/measurements.md, by `benchmarks/footprint.py`.

# Share of the peak that real steps differ from a line by, and points for which that experience
# counts.
_USUAL_ERROR = 0.012
_EXPERIENCE = 3
# Share. Steps with one batch size differ by luck, and the highest of several by this part of that.
_PART_OF_SCATTER = 0.25
# Share of the peak. What real peaks differ from process to process by, beside that.
_SPREAD = 0.06
# Standard errors. A point further from the line of the others is not on it.
_MOST_ERRORS = 3
# Share of the peak, however the steps differ: a line that misses a point by more is none. A guess.
_MOST_MISS = 0.15
# Times the largest batch. The line is chosen, and has to be sure, for what it says up to there.
_REACH = 4
# Share of the peak that the line may be in doubt by there, before no more are measured. A guess.
_SURE = 0.05
# Factors to the peak of the smallest batch, and to all gradients, both without what stays: a peak
# above either is one of the activations. Guesses.
_ABOVE = 1.3
_FAR_ABOVE = 4
_HIDDEN = "up to there, gradients set the peak and hide how activations grow"


class FittedLine(NamedTuple):
    """A straight line with the noise around it.

    `error` is the standard deviation of the points, as a share of the largest; `spread` and
    `mean_batch` say how firmly they hold the slope, and so how sure a point far away is.
    """

    intercept_bytes: float
    bytes_per_sample: float
    error: float
    points: int
    mean_batch: float
    spread: float
    from_batch: int
    to_batch: int

    def peak_bytes(self, batch_size: float) -> float:
        """On the line."""
        return self.intercept_bytes + self.bytes_per_sample * batch_size

    def doubt_bytes(self, batch_size: float) -> float:
        """By how much the line itself may lie above or below."""
        distance = (batch_size - self.mean_batch) ** 2 / self.spread if self.spread else 0.0
        lever = (1 / self.points + distance) ** 0.5
        return float(2 * self.error * abs(self.peak_bytes(self.to_batch)) * lever)

    def half_width_bytes(self, batch_size: float, least: float = 0.0) -> float:
        """By how much a step may lie above or below, if steps differ by this share at least."""
        own = 2 * max(self.error, least) * abs(self.peak_bytes(batch_size))
        return float((self.doubt_bytes(batch_size) ** 2 + own**2) ** 0.5)


class PeakLine:
    """The line that says most surely what larger batches take.

    A step has two tops: where all activations are there, and where all gradients are. Small
    batches show only the second, which hides how the first one grows: they are no part of it.
    """

    how: str = "predicted by a line"

    def __init__(self, points: Sequence[StepPeak], fixed: Fixed) -> None:
        """Of points with the smallest batch first."""
        self._points = points
        self._above = above_gradients(points, fixed)
        lines = [_line(self._above[at:]) for at in range(len(self._above) - FEWEST + 1)]
        self._good = [line for line in lines if _holds(line, self._above)]

    @property
    def why_not(self) -> str:
        """Why it says nothing about other batches; empty where it does."""
        if len(self._points) < FEWEST:
            return f"only {len(self._points)} batch sizes could be measured"
        if len(self._above) < FEWEST:
            return _HIDDEN
        return "" if self._good else _how_it_bends(self._above)

    @property
    def is_sure(self) -> bool:
        """Whether the line says surely enough what larger batches take."""
        if self.why_not:
            return False
        return self._best.doubt_bytes(self._far) < _SURE * self._best.peak_bytes(self._far)

    @property
    def error(self) -> float:
        """By how much the points differ from it, as a share."""
        return self._best.error

    def peak_bytes(self, batch_size: int) -> float:
        """On the line."""
        return self._best.peak_bytes(batch_size)

    def half_width_bytes(self, batch_size: int) -> float:
        """With the doubt of the line, and what processes differ by."""
        return self._best.half_width_bytes(batch_size, _SPREAD)

    def least_bytes(self, batch_size: int) -> float:  # noqa: ARG002 - peaks do not show it
        """Not known."""
        return 0.0

    def needed_bytes(self, batch_size: int) -> float:
        """Peaks are all that is known: nothing is rounded up."""
        return self.peak_bytes(batch_size)

    def growing_bytes(self, batch_size: int) -> float:
        """The slope."""
        return self._best.bytes_per_sample * batch_size

    def batch_that_takes(self, limit_bytes: int) -> int | None:
        """The largest batch that is below; None where the line does not rise."""
        line = self._best
        if line.bytes_per_sample <= 0:
            return None
        return max(1, int((limit_bytes - line.intercept_bytes) / line.bytes_per_sample))

    @property
    def _far(self) -> int:
        return _REACH * self._above[-1].batch_size

    @cached_property
    def _best(self) -> FittedLine:
        far = self._far
        return min(self._good, key=lambda line: line.doubt_bytes(far) / line.peak_bytes(far))


def above_gradients(points: Sequence[StepPeak], fixed: Fixed) -> tuple[StepPeak, ...]:
    """The points whose peak is where the activations are, and not where the gradients are.

    The second top is also made of what the optimizer computes, so its height is not known: it is
    what the smallest batch shows, unless that is far above all gradients.
    """
    if not points or points[0].kind is not StepKind.TRAIN:
        return tuple(points)
    kept = fixed.weights_bytes + fixed.optimizer_bytes
    least = min(_ABOVE * (points[0].peak_bytes - kept), _FAR_ABOVE * fixed.gradients_bytes)
    return tuple(point for point in points if point.peak_bytes - kept > least)


def _holds(line: FittedLine, points: Sequence[StepPeak]) -> bool:
    used = [point for point in points if point.batch_size >= line.from_batch]
    return _bend(used) <= 1 and _largest_miss(line, used) <= _MOST_MISS


def _line(points: Sequence[StepPeak]) -> FittedLine:
    """Least squares: of a small batch what is rounded is a larger share, so it counts less."""
    sizes = [float(point.batch_size) for point in points]
    heights = [float(point.peak_bytes) for point in points]
    mean, level = fmean(sizes), fmean(heights)
    spread = sum((x - mean) ** 2 for x in sizes)
    slope = sum((x - mean) * y for x, y in zip(sizes, heights, strict=True)) / spread
    slope = max(slope, 0.0)
    largest = max(heights)
    misses = [level + slope * (x - mean) - y for x, y in zip(sizes, heights, strict=True)]
    scatter = _scatter(points)
    variance = (sum((miss / largest) ** 2 for miss in misses) + _EXPERIENCE * scatter**2) / (
        len(points) - 2 + _EXPERIENCE
    )
    return FittedLine(
        intercept_bytes=level - slope * mean,
        bytes_per_sample=slope,
        error=variance**0.5,
        points=len(points),
        mean_batch=mean,
        spread=spread,
        from_batch=points[0].batch_size,
        to_batch=points[-1].batch_size,
    )


def _scatter(points: Sequence[StepPeak]) -> float:
    """What the highest of several steps differs by, to judge from how the steps differ."""
    spreads = sorted(1 - one.lowest_bytes / one.peak_bytes for one in points)
    return max(_USUAL_ERROR, _PART_OF_SCATTER * spreads[len(spreads) // 2])


def _bend(points: Sequence[StepPeak]) -> float:
    """How far the last point is from the line of the others, in units of what is no wonder."""
    *others, last = points
    line = _line(others)
    miss = abs(line.peak_bytes(last.batch_size) - last.peak_bytes)
    # A line through two points has no rest of its own to judge by: its lever says how sure it is.
    return miss / (_MOST_ERRORS / 2 * line.half_width_bytes(last.batch_size, _SPREAD))


def _how_it_bends(points: Sequence[StepPeak]) -> str:
    low, middle, last = points[-3:]
    first = (middle.peak_bytes - low.peak_bytes) / (middle.batch_size - low.batch_size)
    second = (last.peak_bytes - middle.peak_bytes) / (last.batch_size - middle.batch_size)
    if second > first:
        return "the peak grows faster than the batch"
    return "the peak does not grow evenly with the batch"


def _largest_miss(line: FittedLine, points: Sequence[StepPeak]) -> float:
    return max(abs(line.peak_bytes(one.batch_size) / one.peak_bytes - 1) for one in points)
