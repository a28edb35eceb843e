"""The peak of a pool at any batch size, where the allocations of some steps were watched.

The forecast of these allocations is played through a pool of arithmetic: how much a pool rounds up
follows from the sizes that it is asked for and from all that went before.
"""

from collections.abc import Sequence
from functools import cached_property

from lowwater.model.footprint import StepPeak
from lowwater.model.step_trace import GIVEN_BACK, StepTrace
from lowwater.sizing.extension import FEWEST, WIDEST
from lowwater.sizing.forecast import Forecast
from lowwater.sizing.simulated_pool import Chunk, SimulatedPool

# Share of the peak. What a forecast differs from a real pool by, and points for which that
# experience counts: twelve models, see docs/measurements.md.
_USUAL_SPREAD = 0.04
_EXPERIENCE = 3
# The first round leaves the pool as later steps find it.
_ROUNDS = 2
# Rounds until a batch and its peak agree.
_MOST_ROUNDS = 8
# Share of a batch by which they do.
_AGREES = 0.005
# Factor to a batch with which nothing grows at its peak.
_FAR = 4
# A batch that does not fit the forecast is made smaller by this share, so many times at most.
_SMALLER = 0.98
_MOST_SMALLER = 20


class PoolPeaks:
    """Steps are played as large as another batch has them; real peaks say how sure that is."""

    how: str = "predicted allocation by allocation"

    def __init__(self, points: Sequence[StepPeak]) -> None:
        """Of points that were all watched, smallest batch first. Nothing is played yet."""
        self._points = points
        self._largest = points[-1].batch_size
        self._forecast = Forecast(points)
        self._peaks: dict[int, float] = {}

    @property
    def why_not(self) -> str:
        """Why it says nothing about other batches; empty where it does."""
        if len(self._points) < FEWEST:
            return f"only {len(self._points)} batch sizes could be measured"
        if 2 * self._forecast.miss > WIDEST:
            return "the allocations of a step do not grow evenly with the batch"
        return ""

    @property
    def is_sure(self) -> bool:
        """Whether a larger batch would not say more: each one says how all allocations grow."""
        return not self.why_not

    def peak_bytes(self, batch_size: int) -> float:
        """What the pool gives out at the most."""
        if batch_size not in self._peaks:
            self._peaks[batch_size] = max(played(self._forecast.traces(batch_size)))
        return self._peaks[batch_size] * self._ratio

    def half_width_bytes(self, batch_size: int) -> float:
        """By how much a real peak may differ: pools do, and allocations may bend further on."""
        bend = self._forecast.miss * max(1.0, batch_size / self._largest)
        share: float = (self.error**2 + bend**2) ** 0.5
        return 2 * share * self.peak_bytes(batch_size)

    def least_bytes(self, batch_size: int) -> float:
        """What a step may do with if its pool loses nothing."""
        lowest = min(trace.needed_bytes for trace in self._forecast.traces(batch_size))
        return lowest * (1 - self._forecast.miss * max(1.0, batch_size / self._largest))

    def needed_bytes(self, batch_size: int) -> int:
        """What is asked for at the most."""
        return max(trace.needed_bytes for trace in self._forecast.traces(batch_size))

    def growing_bytes(self, batch_size: int) -> int:
        """What of it grows with the batch."""
        return self._forecast.growing_bytes(batch_size)

    def batch_that_takes(self, limit_bytes: int) -> int | None:
        """The largest batch that gets all it asks for from a pool of this size; None for any."""
        found = self._largest
        for _ in range(_MOST_ROUNDS):
            before, room = found, limit_bytes - self.peak_bytes(found)
            found = self._after(found, room)
            if abs(found - before) <= _AGREES * found:
                break
        return self._that_fits(found, limit_bytes) if self.growing_bytes(found) else None

    @cached_property
    def error(self) -> float:
        """By how much real peaks differ from the forecast, as a share of it."""
        squares = sum((one - self._ratio) ** 2 for one in self._ratios)
        squares += _EXPERIENCE * _USUAL_SPREAD**2
        return float((squares / (len(self._ratios) - 1 + _EXPERIENCE)) ** 0.5)

    @cached_property
    def _ratios(self) -> list[float]:
        return [one.peak_bytes / max(played(one.traces)) for one in self._points]

    @cached_property
    def _ratio(self) -> float:
        return (sum(self._ratios) + _EXPERIENCE) / (len(self._ratios) + _EXPERIENCE)

    def _after(self, batch_size: int, room_bytes: float) -> int:
        """The batch that takes so many bytes more, or fewer."""
        growing = self.growing_bytes(batch_size)
        if growing:
            return max(1, batch_size + int(room_bytes * batch_size / growing))
        return _FAR * batch_size if room_bytes > 0 else batch_size

    def _that_fits(self, batch_size: int, limit_bytes: int) -> int:
        """This batch, or the next smaller one, if real pools lose as much more as before."""
        room_bytes = round(limit_bytes / max(1.0, self._ratio))
        for _ in range(_MOST_SMALLER):
            if batch_size == 1 or fits(self._forecast.traces(batch_size), room_bytes):
                break
            batch_size = max(1, int(_SMALLER * batch_size))
        return batch_size


def fits(traces: Sequence[StepTrace], limit_bytes: int) -> bool:
    """Whether these steps get all that they ask for from a pool of this size."""
    try:
        played(traces, limit_bytes)
    except MemoryError:
        return False
    return True


def played(traces: Sequence[StepTrace], limit_bytes: int | None = None) -> list[int]:
    """The peak of each step, one after the other in one pool; MemoryError where one does not fit.

    Where in the pool lies what was there before follows from how the model was made, but how much
    of it was given out is known.
    """
    pool = SimulatedPool(limit_bytes, max(trace.before_bytes for trace in traces))
    peaks = []
    for _ in range(_ROUNDS):
        for trace in traces:
            pool.peak_bytes = 0
            _play(trace, pool)
            peaks.append(trace.before_bytes + pool.peak_bytes)
    return peaks[1:]


def _play(trace: StepTrace, pool: SimulatedPool) -> None:
    held: dict[int, Chunk] = {}
    for number, (name, size) in enumerate(trace.events):
        if name == GIVEN_BACK:
            pool.give_back(held.pop(size))
        else:
            held[number] = pool.allocate(size)
    for chunk in held.values():
        pool.give_back(chunk)
