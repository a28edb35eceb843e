"""Peak by batch size: a line where it is one, and a reason where it is not."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from lowwater.model.footprint import Estimate, Fixed, NeedLine, StepKind, StepPeak, TensorLimit
from lowwater.sizing.pool_peaks import UNKNOWN_SPREAD, PoolPeaks

# How right lines are with these numbers is in docs/measurements.md, by `benchmarks/footprint.py`:
# ten models of TensorFlow on a CPU. Which of the numbers matters was not measured.

# Share of the peak that real steps differ from a line by, and points for which that experience
# counts.
_USUAL_ERROR = 0.012
_EXPERIENCE = 3
# Share. Steps with one batch size differ by luck, and the highest of several by this part of that.
_PART_OF_SCATTER = 0.25
# Rounds until a batch and what the pool loses at it agree.
_MOST_ROUNDS = 6
# Standard errors. A point further from the line of the others is not on it.
_MOST_ERRORS = 3
# Share of the peak, however the steps differ: a line that misses a point by more is none. A guess.
_MOST_MISS = 0.15
# Share of the peak, to one side. A wider interval is no answer. A guess.
_WIDEST = 0.3
# Points of a line: with two, none would show that it is no line.
FEWEST = 3
# Times the largest batch. The line is chosen, and has to be sure, for what it says up to there.
REACH = 4
# Factors to the peak of the smallest batch, and to all gradients, both without what stays: a peak
# above either is one of the activations. Guesses.
_ABOVE = 1.3
_FAR_ABOVE = 4
_HIDDEN = "up to there, gradients set the peak and hide how activations grow"


@dataclass(frozen=True, slots=True)
class Curve:
    """What was measured, and the line through it; without a line, the reason."""

    points: tuple[StepPeak, ...]
    # What their steps say of a pool's peak at other batch sizes.
    pool: PoolPeaks
    line: NeedLine | None
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
                return Estimate(
                    batch_size, point.peak_bytes, span, is_measured=True, because="measured"
                )
        if self.line is None:
            return self._refused(batch_size, self.why_no_line)
        peak = self._peak_bytes(batch_size)
        half = self.line.half_width_bytes(batch_size, self.pool.spread)
        if half > _WIDEST * peak:
            return self._refused(batch_size, "the estimate there is too uncertain to be useful")
        low = max(peak - half, self._least_bytes(batch_size))
        span = (round(low), round(peak + half))
        return Estimate(
            batch_size, round(peak), span, is_measured=False, because="predicted by a line"
        )

    def lost_bytes(self, batch_size: int) -> int:
        """What a pool gives out there beyond what it is asked for; 0 where that is not known."""
        for point in self.points:
            if point.batch_size == batch_size and point.needed_bytes:
                return max(0, point.peak_bytes - point.needed_bytes)
        if self.line is None:
            return 0
        needed = self.pool.needed_bytes(batch_size)
        return 0 if needed is None else max(0, round(self._peak_bytes(batch_size) - needed))

    def surely_needs_more(self, batch_size: int, limit: TensorLimit) -> bool:
        """Whether tensors alone ask for more, whatever the pool does."""
        return self.line is not None and self._least_bytes(batch_size) > limit.limit_bytes

    def batch_that_takes(self, limit_bytes: int) -> int:
        """The largest batch whose peak is no higher, as far as can be said; the line has to rise.

        What a pool loses depends on the batch, so a few rounds are needed to meet it.
        """
        assert self.line is not None
        found = self.line.batch_that_needs(limit_bytes)
        for _ in range(_MOST_ROUNDS):
            before = max(1, found)
            beyond = self._peak_bytes(before) / max(1.0, self.line.needed_bytes(before))
            found = self.line.batch_that_needs(limit_bytes / beyond)
            if found == before:
                break
        return self.pool.that_fits(max(1, found), limit_bytes)

    def _peak_bytes(self, batch_size: int) -> float:
        assert self.line is not None
        forecast = self.pool.peak_bytes(batch_size)
        return self.line.needed_bytes(batch_size) if forecast is None else forecast

    def _least_bytes(self, batch_size: int) -> float:
        """A pool gives out no less than it is asked for; 0 where that is not known."""
        needed = self.pool.needed_bytes(batch_size)
        if self.line is None or needed is None:
            return 0.0
        known = min(needed, self.line.needed_bytes(batch_size))
        return known - self.line.half_width_bytes(batch_size)

    def _high(self, point: StepPeak) -> float:
        error = self.line.error if self.line is not None else 0.0
        return point.peak_bytes * (1 + error)

    def _refused(self, batch_size: int, why: str) -> Estimate:
        told = f"cannot be predicted beyond batch {self.largest}, because {why}"
        return Estimate(batch_size, None, None, is_measured=False, because=told)


def fit(points: Sequence[StepPeak], fixed: Fixed) -> Curve:
    """The line that says most surely what larger batches take.

    A step has two tops: where all activations are there, and where all gradients are. Small
    batches show only the second, which hides how the first one grows: they are no part of it.
    """
    sized = tuple(sorted(points, key=lambda point: point.batch_size))
    pool = PoolPeaks(sized)
    if len(sized) < FEWEST:
        return Curve(sized, pool, None, None, f"only {len(sized)} batch sizes could be measured")
    above = above_gradients(sized, fixed)
    if len(above) < FEWEST:
        return Curve(sized, pool, None, None, _HIDDEN)
    reach = REACH * above[-1].batch_size
    lines = [_line(above[first:]) for first in range(len(above) - FEWEST + 1)]
    good = [line for line in lines if _holds(line, above)]
    if not good:
        return Curve(sized, pool, None, None, _how_it_bends(above))
    best = min(good, key=lambda line: line.doubt_bytes(reach) / line.needed_bytes(reach))
    return Curve(sized, pool, best, _miss_of_last(_on(best, above)))


def above_gradients(points: Sequence[StepPeak], fixed: Fixed) -> tuple[StepPeak, ...]:
    """The points whose peak is where the activations are, and not where the gradients are.

    The second top is also made of what the optimizer computes, so its height is not known: it is
    what the smallest batch shows, unless that is far above all gradients.
    """
    if not points or points[0].kind is not StepKind.TRAIN:
        return tuple(points)
    kept = fixed.weights_bytes + fixed.optimizer_bytes
    heights = _heights(points)
    least = min(_ABOVE * (heights[0] - kept), _FAR_ABOVE * fixed.gradients_bytes)
    return tuple(
        point for point, height in zip(points, heights, strict=True) if height - kept > least
    )


def _on(line: NeedLine, points: Sequence[StepPeak]) -> Sequence[StepPeak]:
    return [point for point in points if point.batch_size >= line.from_batch]


def _holds(line: NeedLine, points: Sequence[StepPeak]) -> bool:
    used = _on(line, points)
    return _bend(used) <= 1 and _largest_miss(line, used) <= _MOST_MISS


def _line(points: Sequence[StepPeak]) -> NeedLine:
    """Least squares: of a small batch the pool's rounding is a larger share, so it counts less.

    Fresh pools, seven models, at 4 to 8 times the largest batch: the line missed by 1.6 to 4.1 % in
    the median, and by 4.8 to 7.7 % where all points had the same relative weight.
    """
    sizes = [float(point.batch_size) for point in points]
    heights = [float(height) for height in _heights(points)]
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
    return NeedLine(
        intercept_bytes=level - slope * mean,
        bytes_per_sample=slope,
        error=variance**0.5,
        points=len(points),
        mean_batch=mean,
        spread=spread,
        from_batch=points[0].batch_size,
        to_batch=points[-1].batch_size,
    )


def need_is_known(points: Sequence[StepPeak]) -> bool:
    """Whether it was seen what the tensors of all these steps asked for."""
    return all(point.needed_bytes for point in points)


def _heights(points: Sequence[StepPeak]) -> list[int]:
    """What the line goes through: what tensors asked for, else the peaks themselves."""
    needs = [point.needed_bytes for point in points if point.needed_bytes]
    return needs if len(needs) == len(points) else [point.peak_bytes for point in points]


def _scatter(points: Sequence[StepPeak]) -> float:
    """What the highest of several steps differs by, to judge from how the steps differ."""
    is_need = need_is_known(points)
    each = [point.needed_each_bytes if is_need else point.peaks_bytes for point in points]
    spreads = sorted(1 - min(one) / max(one) for one in each)
    return max(_USUAL_ERROR, _PART_OF_SCATTER * spreads[len(spreads) // 2])


def _bend(points: Sequence[StepPeak]) -> float:
    """How far the last point is from the line of the others, in units of what is no wonder."""
    *others, last = points
    line = _line(others) if len(others) > 1 else None
    if line is None:
        return 0.0
    miss = abs(line.needed_bytes(last.batch_size) - _heights(points)[-1])
    # A line through two points has no rest of its own to judge by: its lever says how sure it is.
    spread = 0.0 if need_is_known(points) else UNKNOWN_SPREAD
    return miss / (_MOST_ERRORS / 2 * line.half_width_bytes(last.batch_size, spread))


def _how_it_bends(points: Sequence[StepPeak]) -> str:
    low, middle, last = points[-3:]
    bottom, between, top = _heights(points)[-3:]
    first = (between - bottom) / (middle.batch_size - low.batch_size)
    second = (top - between) / (last.batch_size - middle.batch_size)
    if second > first:
        return "the peak grows faster than the batch"
    return "the peak does not grow evenly with the batch"


def _largest_miss(line: NeedLine, points: Sequence[StepPeak]) -> float:
    heights = zip(points, _heights(points), strict=True)
    return max(abs(line.needed_bytes(one.batch_size) / height - 1) for one, height in heights)


def _miss_of_last(points: Sequence[StepPeak]) -> float:
    """The line of the others, against the last point: the test of the line."""
    *others, last = points
    return abs(_line(others).needed_bytes(last.batch_size) / _heights(points)[-1] - 1)
