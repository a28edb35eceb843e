"""Peak by batch size: a line where it is one, and a reason where it is not."""

from collections.abc import Sequence
from dataclasses import dataclass

from lowwater.model.footprint import Estimate, Fixed, Line, StepPeak

# A point this far from the line, as a share of its peak, is not on it.
_MOST_MISS = 0.04
# What points of real steps differ from a line by, and for how many points that experience counts.
_USUAL_ERROR = 0.012
_EXPERIENCE = 3
# An interval wider than this share of the peak, to one side, is no answer.
_WIDEST = 0.3
_FEWEST = 3


@dataclass(frozen=True, slots=True)
class Curve:
    """What was measured, and the line through it; without a line, the reason."""

    points: tuple[StepPeak, ...]
    line: Line | None
    # How far the last point lies from what the others say of it, as a share of it.
    miss: float | None
    why_no_line: str = ""

    @property
    def largest(self) -> int:
        """The largest batch that was measured."""
        return max(point.batch_size for point in self.points)

    def at(self, batch_size: int) -> Estimate:
        """Measured, on the line, or the reason why it cannot be said."""
        for point in self.points:
            if point.batch_size == batch_size:
                high = max(point.peak_bytes, round(self._high(point)))
                span = (point.lowest_bytes, high)
                return Estimate(batch_size, point.peak_bytes, span, True, "measured")
        if self.line is None:
            return self._refused(batch_size, self.why_no_line)
        peak, half = self.line.peak_bytes(batch_size), self.line.half_width_bytes(batch_size)
        if half > _WIDEST * peak:
            return self._refused(batch_size, "the interval there is wider than the answer is worth")
        span = (round(peak - half), round(peak + half))
        return Estimate(batch_size, round(peak), span, False, "extended by a line")

    def _high(self, point: StepPeak) -> float:
        error = self.line.error if self.line is not None else 0.0
        return point.peak_bytes * (1 + error)

    def _refused(self, batch_size: int, why: str) -> Estimate:
        told = f"cannot be extended beyond batch {self.largest}, because {why}"
        return Estimate(batch_size, None, None, False, told)


def fit(points: Sequence[StepPeak], fixed: Fixed) -> Curve:
    """The line through the largest batches, as far down as it holds."""
    sized = tuple(sorted(points, key=lambda point: point.batch_size))
    if len(sized) < _FEWEST:
        return Curve(sized, None, None, f"only {len(sized)} batch sizes could be measured")
    for first in range(len(sized) - _FEWEST + 1):
        used = sized[first:]
        line = _line(used)
        if _largest_miss(line, used) <= _MOST_MISS:
            return Curve(sized, line, _miss_of_last(used))
    return Curve(sized, None, None, "the peak does not follow a line")


def _line(points: Sequence[StepPeak]) -> Line:
    """Least squares with errors in proportion to the peak."""
    weights = [1 / point.peak_bytes**2 for point in points]
    total = sum(weights)
    sizes = [float(point.batch_size) for point in points]
    peaks = [float(point.peak_bytes) for point in points]
    mean = sum(w * x for w, x in zip(weights, sizes, strict=True)) / total
    level = sum(w * y for w, y in zip(weights, peaks, strict=True)) / total
    spread = sum(w * (x - mean) ** 2 for w, x in zip(weights, sizes, strict=True))
    slope = sum(w * (x - mean) * y for w, x, y in zip(weights, sizes, peaks, strict=True)) / spread
    slope = max(slope, 0.0)
    misses = [1 - (level + slope * (x - mean)) / y for x, y in zip(sizes, peaks, strict=True)]
    free = len(points) - 2
    variance = (sum(miss**2 for miss in misses) + _EXPERIENCE * _USUAL_ERROR**2) / (
        free + _EXPERIENCE
    )
    return Line(
        intercept_bytes=level - slope * mean,
        bytes_per_sample=slope,
        error=variance**0.5,
        points=len(points),
        mean_batch=mean,
        spread=spread * level**2,
        from_batch=points[0].batch_size,
        to_batch=points[-1].batch_size,
    )


def _largest_miss(line: Line, points: Sequence[StepPeak]) -> float:
    return max(abs(line.peak_bytes(one.batch_size) / one.peak_bytes - 1) for one in points)


def _miss_of_last(points: Sequence[StepPeak]) -> float:
    """The line of the others, against the last point: the test of the line."""
    *others, last = points
    return abs(_line(others).peak_bytes(last.batch_size) / last.peak_bytes - 1)
