"""`lowwater.largest_batch()`: the largest batch below a limit, confirmed by real steps."""

from collections.abc import Callable
from dataclasses import dataclass

from lowwater.errors import UsageError
from lowwater.model.footprint import Estimate, StepKind, StepPeak, TensorLimit
from lowwater.model.units import format_bytes
from lowwater.sizing.curve import Curve, curve_of
from lowwater.sizing.found import Footprint

# What a try with one batch size gave: its peaks, or None where it did not fit.
Try = Callable[[int], StepPeak | None]
# Share of the answer, which lies below a batch that did not fit by at most this. Peaks of the same
# step differ by about as much from process to process.
_CLOSE = 0.04
# Tries. Halving a bracket of four times the answer down to `_CLOSE` takes seven.
_MOST_TRIES = 10
# Factors to a batch that did not fit, for each failure in turn. The line does not know what a pool
# loses in gaps, so each goes down by more. Guesses.
_DOWN = (0.92, 0.88, 0.8, 0.6, 0.4)
# Factor. The machine itself must have so much more free than the step is said to take. A guess.
SLACK = 1.15


class LargestBatch(int):
    """A batch size, with what is known of it. It is a number: `model.curve_of(batch_size=it)`."""

    limit_bytes: int
    is_confirmed: bool
    because: str
    peak_bytes: int | None
    tried: tuple[StepPeak, ...]

    @property
    def batch_size(self) -> int:
        """The number itself."""
        return int(self)

    def __repr__(self) -> str:
        return f"{int(self)} ({self.because})"

    __str__ = int.__repr__

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (int(self), self.__dict__)


def _restored(batch_size: int, attributes: dict[str, object]) -> LargestBatch:
    made = LargestBatch(batch_size)
    made.__dict__.update(attributes)
    return made


@dataclass(slots=True)
class _Bracket:
    """The largest batch that was seen to fit, and the smallest that was seen not to."""

    fits: int
    fails: int | None = None
    failures: int = 0

    @property
    def is_close(self) -> bool:
        return self.fails is not None and self.fails - self.fits <= max(1, _CLOSE * self.fits)


def largest_below(
    footprint: Footprint, limit: TensorLimit, attempt: Try | None, free_bytes: int | None
) -> LargestBatch:
    """Ask the line, then real steps under that very limit.

    `attempt` makes them in a fresh process; None where no such process can be had.
    """
    points = [one for one in footprint.measured if one.peak_bytes <= limit.limit_bytes]
    _refuse_if_hopeless(footprint, limit)
    if not points:
        points = [_one_sample(footprint)]
    below = max(point.batch_size for point in points)
    if attempt is None:
        told = "not confirmed: the model cannot be sent to a process of its own"
        sure = _surely(footprint.curves[StepKind.TRAIN], limit, below)
        return _answer(sure, limit, (), told)
    return _search(footprint, limit, attempt, free_bytes, below)


def _search(
    footprint: Footprint, limit: TensorLimit, attempt: Try, free_bytes: int | None, below: int
) -> LargestBatch:
    bracket, curve = _Bracket(0), footprint.curves[StepKind.TRAIN]
    made: list[StepPeak] = []
    for _ in range(_MOST_TRIES):
        batch_size = _next(bracket, curve, limit, below)
        if batch_size in {bracket.fits, bracket.fails}:
            break
        if not _has_room(curve.at(batch_size), limit, free_bytes):
            told = f"not confirmed: this machine has only {format_bytes(free_bytes or 0)} free"
            sure = _surely(curve, limit, below)
            return _answer(max(bracket.fits, sure), limit, tuple(made), told)
        step = attempt(batch_size)
        if step is None:
            bracket.fails = batch_size
            bracket.failures += 1
        else:
            bracket.fits = max(bracket.fits, batch_size)
            made.append(step)
            if step.batch_size not in {one.batch_size for one in curve.points}:
                curve = curve_of((*curve.points, step), footprint.fixed)
        next_up = bracket.fits + max(1, int(_CLOSE * bracket.fits))
        is_settled = bracket.fits and curve.surely_needs_more(next_up, limit)
        if bracket.is_close or bracket.fails == 1 or is_settled:
            break
    if bracket.fits == 0:
        raise UsageError(
            "not even a batch of 1 fits: a real step ran out of memory",
            received=f"limit {format_bytes(limit.limit_bytes)}",
            advice="a larger limit, or a smaller model",
        )
    return _answer(bracket.fits, limit, tuple(made), _confirmed(bracket, limit))


def _has_room(told: Estimate, limit: TensorLimit, free_bytes: int | None) -> bool:
    """Whether this machine itself has what such a step takes."""
    if free_bytes is None or SLACK * limit.limit_bytes <= free_bytes:
        return True
    return SLACK * (told.peak_bytes or limit.limit_bytes) <= free_bytes


def _next(bracket: _Bracket, curve: Curve, limit: TensorLimit, below: int) -> int:
    """The batch to try: as the line says, then closer and closer to where it stops to fit."""
    if bracket.fits == 0:
        if bracket.fails is None:
            return _asked(curve, limit, below)
        return max(1, int(bracket.fails * _DOWN[min(bracket.failures, len(_DOWN)) - 1]))
    step = max(1, int(_CLOSE * bracket.fits))
    if bracket.fails is None:
        said = _asked(curve, limit, bracket.fits)
        return max(bracket.fits + step, min(said, 4 * bracket.fits))
    if bracket.fails - bracket.fits <= 4 * step:
        return (bracket.fits + bracket.fails) // 2
    said = _asked(curve, limit, bracket.fits)
    middle = (bracket.fits + bracket.fails) // 2
    return said if bracket.fits + step <= said <= bracket.fails - step else middle


def _asked(curve: Curve, limit: TensorLimit, below: int) -> int:
    """The largest batch that the line says to fit; without a line, twice what is known to."""
    if curve.why_not:
        return max(1, below if below > curve.largest else 2 * below)
    return curve.extension.batch_that_takes(limit.limit_bytes) or 4 * max(1, below)


def _surely(curve: Curve, limit: TensorLimit, below: int) -> int:
    """The largest batch whose whole interval is below the limit: nobody has tried it."""
    low, high = 1, max(2, _asked(curve, limit, below))
    if curve.why_not:
        return max(1, below)
    while high - low > 1:
        middle = (low + high) // 2
        span = curve.at(middle).interval_bytes
        fits = span is not None and span[1] <= limit.limit_bytes
        low, high = (middle, high) if fits else (low, middle)
    return low


def _refuse_if_hopeless(footprint: Footprint, limit: TensorLimit) -> None:
    fixed = footprint.fixed
    least = fixed.weights_bytes + fixed.optimizer_bytes
    if limit.limit_bytes < least:
        raise UsageError(
            f"the limit is less than the weights and the optimizer take, {format_bytes(least)}",
            received=f"limit {format_bytes(limit.limit_bytes)}",
            advice="a larger limit, or a smaller model",
        )


def _one_sample(footprint: Footprint) -> StepPeak:
    first = footprint.measured[0]
    return StepPeak(1, first.peaks_bytes, first.step_s)


def _confirmed(bracket: _Bracket, limit: TensorLimit) -> str:
    told = f"largest that fits {format_bytes(limit.limit_bytes)}, confirmed by real steps"
    return f"{told}; {bracket.fails} did not fit" if bracket.fails is not None else told


def _answer(
    batch_size: int, limit: TensorLimit, made: tuple[StepPeak, ...], because: str
) -> LargestBatch:
    found = LargestBatch(batch_size)
    found.limit_bytes, found.because = limit.limit_bytes, because
    found.is_confirmed = bool(made) and "not confirmed" not in because
    found.tried = made
    peaks = [one.peak_bytes for one in made if one.batch_size == batch_size]
    found.peak_bytes = max(peaks, default=None)
    return found
