"""`lowwater.largest_batch()`: the largest batch below a limit, confirmed by real steps."""

from collections.abc import Callable
from dataclasses import dataclass

from lowwater.errors import UsageError
from lowwater.model.footprint import StepKind, StepPeak, TensorLimit
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
# Factors to a batch that did not fit, for each failure in turn: each goes down by more. Guesses.
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
    # From this batch on none fits: real steps did not, or tensors alone need more. Between the two
    # nothing was tried.
    too_large: int | None

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
    """The largest batch that was seen to fit, and the smallest that was seen not to.

    At `hopeless`, tensors alone need more than the limit.
    """

    fits: int = 0
    fails: int | None = None
    failures: int = 0
    hopeless: int | None = None

    @property
    def is_close(self) -> bool:
        return self.fails is not None and self.fails <= self.next_up

    @property
    def next_up(self) -> int:
        """A little larger than what fits: a search need not be closer."""
        return self.fits + max(1, int(_CLOSE * self.fits))

    @property
    def too_large(self) -> int | None:
        return self.fails or self.hopeless


def largest_below(
    footprint: Footprint,
    limit: TensorLimit,
    attempt: Try | None,
    free_bytes: int | None,
    wanted: int | None = None,
) -> LargestBatch:
    """Ask the curve, then real steps under that very limit.

    `attempt` makes them in a fresh process; None where no such process can be had. A batch that is
    `wanted` is tried as well, where it would stay open whether it fits.
    """
    _refuse_if_hopeless(footprint, limit)
    if attempt is None:
        told = "not confirmed: the model cannot be sent to another process"
        sure = _surely(footprint.curves[StepKind.TRAIN], limit, _below(footprint, limit))
        return _answer(sure, limit, (), told)
    return _Search(footprint, limit, attempt, free_bytes).answer(wanted)


def _below(footprint: Footprint, limit: TensorLimit) -> int:
    """The largest batch that was measured below the limit; 1 where none was."""
    sizes = [one.batch_size for one in footprint.measured if one.peak_bytes <= limit.limit_bytes]
    return max(sizes, default=1)


class _Search:
    """Tries batches, each of which says more about the next."""

    def __init__(
        self, footprint: Footprint, limit: TensorLimit, attempt: Try, free_bytes: int | None
    ) -> None:
        self._limit, self._attempt, self._free_bytes = limit, attempt, free_bytes
        self._fixed, self._below = footprint.fixed, _below(footprint, limit)
        self._curve = footprint.curves[StepKind.TRAIN]
        self._bracket = _Bracket()
        self._made: list[StepPeak] = []

    def answer(self, wanted: int | None) -> LargestBatch:
        """The largest that fits."""
        has_room = self._close_in() and (wanted is None or self._settle(wanted))
        bracket, made = self._bracket, tuple(self._made)
        if not has_room:
            told = (
                f"not confirmed: this machine has only {format_bytes(self._free_bytes or 0)} free"
            )
            sure = _surely(self._curve, self._limit, self._below)
            return _answer(max(bracket.fits, sure), self._limit, made, told)
        if bracket.fits == 0:
            raise UsageError(
                "not even a batch of 1 fits: a real step ran out of memory",
                received=f"limit {format_bytes(self._limit.limit_bytes)}",
                advice="a larger limit, or a smaller model",
            )
        found = _answer(bracket.fits, self._limit, made, _confirmed(bracket, self._limit))
        found.too_large = bracket.too_large
        return found

    def _close_in(self) -> bool:
        """False where the machine itself cannot hold the next step."""
        bracket = self._bracket
        for _ in range(_MOST_TRIES):
            batch_size = _next(bracket, self._curve, self._limit, self._below)
            if batch_size in {bracket.fits, bracket.fails}:
                break
            if not self._has_room(batch_size):
                return False
            self._make(batch_size)
            if bracket.is_close or bracket.fails == 1 or bracket.hopeless:
                break
        return True

    def _settle(self, wanted: int) -> bool:
        """What lies between the two that are close may fit as well."""
        too_large = self._bracket.too_large
        if 0 < self._bracket.fits < wanted and (too_large is None or wanted < too_large):
            if not self._has_room(wanted):
                return False
            self._make(wanted)
        return True

    def _make(self, batch_size: int) -> None:
        bracket, step = self._bracket, self._attempt(batch_size)
        if step is None:
            bracket.fails = batch_size
            bracket.failures += 1
            return
        bracket.fits = max(bracket.fits, batch_size)
        self._made.append(step)
        if step.batch_size not in {one.batch_size for one in self._curve.points}:
            self._curve = curve_of((*self._curve.points, step), self._fixed)
        if self._curve.surely_needs_more(bracket.next_up, self._limit):
            bracket.hopeless = bracket.next_up

    def _has_room(self, batch_size: int) -> bool:
        """Whether this machine itself has what such a step takes."""
        free, limit = self._free_bytes, self._limit.limit_bytes
        if free is None or SLACK * limit <= free:
            return True
        return SLACK * (self._curve.at(batch_size).peak_bytes or limit) <= free


def _next(bracket: _Bracket, curve: Curve, limit: TensorLimit, below: int) -> int:
    """The batch to try: as the curve says, then closer and closer to where it stops to fit."""
    if bracket.fits == 0:
        if bracket.fails is None:
            return _asked(curve, limit, below)
        return max(1, int(bracket.fails * _DOWN[min(bracket.failures, len(_DOWN)) - 1]))
    step = bracket.next_up - bracket.fits
    if bracket.fails is None:
        said = _asked(curve, limit, bracket.fits)
        return max(bracket.next_up, min(said, 4 * bracket.fits))
    if bracket.fails - bracket.fits <= 4 * step:
        return (bracket.fits + bracket.fails) // 2
    said = _asked(curve, limit, bracket.fits)
    middle = (bracket.fits + bracket.fails) // 2
    return said if bracket.fits + step <= said <= bracket.fails - step else middle


def _asked(curve: Curve, limit: TensorLimit, below: int) -> int:
    """The largest batch that is said to fit; where nothing is said, twice what is known to."""
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


def _confirmed(bracket: _Bracket, limit: TensorLimit) -> str:
    told = f"largest that fits {format_bytes(limit.limit_bytes)}, confirmed by real steps"
    return f"{told}; {bracket.fails} did not fit" if bracket.fails is not None else told


def _answer(
    batch_size: int, limit: TensorLimit, made: tuple[StepPeak, ...], because: str
) -> LargestBatch:
    found = LargestBatch(batch_size)
    found.limit_bytes, found.because = limit.limit_bytes, because
    found.is_confirmed = bool(made) and "not confirmed" not in because
    found.tried, found.too_large = made, None
    peaks = [one.peak_bytes for one in made if one.batch_size == batch_size]
    found.peak_bytes = max(peaks, default=None)
    return found
