"""Peak by batch size: what was measured, and what that says of other batches."""

from collections.abc import Sequence
from dataclasses import dataclass

from lowwater.model.footprint import Estimate, Fixed, StepPeak, TensorLimit
from lowwater.sizing.extension import WIDEST, Extension
from lowwater.sizing.peak_line import PeakLine
from lowwater.sizing.pool_peaks import PoolPeaks


@dataclass(frozen=True, slots=True)
class Curve:
    """The points that were measured, smallest batch first, and what extends them."""

    points: tuple[StepPeak, ...]
    extension: Extension

    @property
    def largest(self) -> int:
        """The largest batch that was measured."""
        return self.points[-1].batch_size

    @property
    def why_not(self) -> str:
        """Why it cannot be extended; empty where it can."""
        return self.extension.why_not

    @property
    def is_sure(self) -> bool:
        """Whether no larger batch has to be measured."""
        return self.extension.is_sure

    def at(self, batch_size: int) -> Estimate:
        """Measured, extended, or the reason why it cannot be said."""
        point = self._measured(batch_size)
        if point is not None:
            return self._of(point)
        if self.why_not:
            return self._refused(batch_size, self.why_not)
        peak = self.extension.peak_bytes(batch_size)
        half = self.extension.half_width_bytes(batch_size)
        if half > WIDEST * peak:
            return self._refused(batch_size, "the estimate there is too uncertain to be useful")
        span = (round(peak - half), round(peak + half))
        return Estimate(
            batch_size, round(peak), span, is_measured=False, because=self.extension.how
        )

    def lost_bytes(self, batch_size: int) -> int:
        """What a pool gives out there beyond what it is asked for; 0 where that is not known."""
        point = self._measured(batch_size)
        if point is not None and point.needed_bytes:
            return max(0, point.peak_bytes - point.needed_bytes)
        if point is not None or self.why_not:
            return 0
        peak, needed = (
            self.extension.peak_bytes(batch_size),
            self.extension.needed_bytes(batch_size),
        )
        return max(0, round(peak - needed))

    def growing_bytes(self, batch_size: int) -> float | None:
        """What grows with the batch; None where that is not known."""
        return None if self.why_not else self.extension.growing_bytes(batch_size)

    def surely_needs_more(self, batch_size: int, limit: TensorLimit) -> bool:
        """Whether tensors alone ask for more, whatever the pool does."""
        return not self.why_not and self.extension.least_bytes(batch_size) > limit.limit_bytes

    def _measured(self, batch_size: int) -> StepPeak | None:
        return next((one for one in self.points if one.batch_size == batch_size), None)

    def _of(self, point: StepPeak) -> Estimate:
        error = 0.0 if self.why_not else self.extension.error
        span = (point.lowest_bytes, round(point.peak_bytes * (1 + error)))
        return Estimate(
            point.batch_size, point.peak_bytes, span, is_measured=True, because="measured"
        )

    def _refused(self, batch_size: int, why: str) -> Estimate:
        told = f"cannot be predicted beyond batch {self.largest}, because {why}"
        return Estimate(batch_size, None, None, is_measured=False, because=told)


def curve_of(points: Sequence[StepPeak], fixed: Fixed) -> Curve:
    """By the allocations of all steps, else by the peaks alone."""
    sized = tuple(sorted(points, key=lambda point: point.batch_size))
    is_watched = all(point.traces for point in sized)
    return Curve(sized, PoolPeaks(sized) if is_watched else PeakLine(sized, fixed))
