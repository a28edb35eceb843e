"""What a pool would give out to a step with a batch that nobody has tried.

The allocations of two batch sizes say how each of them grows. Made as large as another batch has
them, in the order in which they came, they are played through the pool once more.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property

from lowwater.model.footprint import StepPeak
from lowwater.model.step_trace import GIVEN_BACK, StepTrace
from lowwater.sizing.simulated_pool import Chunk, SimulatedPool

# The first round leaves the pool as later steps find it.
_ROUNDS = 2


class Forecast:
    """Steps of any batch size, played through a pool of arithmetic."""

    def __init__(self, small: StepPeak, large: StepPeak) -> None:
        """Of two batch sizes whose steps were watched."""
        self._small, self._large = small, large
        self._peaks: dict[int, int] = {}

    def peak_bytes(self, batch_size: int) -> int:
        """The most that the pool gives out at once."""
        if batch_size not in self._peaks:
            self._peaks[batch_size] = max(played([*self.traces(batch_size)]))
        return self._peaks[batch_size]

    def needed_bytes(self, batch_size: int) -> int:
        """The most that it is asked for at once."""
        return max(trace.needed_bytes for trace in self.traces(batch_size))

    def fits(self, batch_size: int, limit_bytes: int) -> bool:
        """Whether these steps get all that they ask for from a pool of this size."""
        try:
            played([*self.traces(batch_size)], limit_bytes)
        except MemoryError:
            return False
        return True

    def traces(self, batch_size: int) -> Iterator[StepTrace]:
        """The steps of the larger batch, with the sizes of this one."""
        for trace in self._large.traces:
            events = tuple(
                (name, size if name == GIVEN_BACK else self._grown(name, size, batch_size))
                for name, size in trace.events
            )
            yield StepTrace(trace.kept_bytes, events)

    def _grown(self, name: str, size: int, batch_size: int) -> int:
        before = self._sizes.get(name)
        small, large = self._small.batch_size, self._large.batch_size
        if before is None:  # it is not in every step: whole samples tell that it grows with them
            return size // large * batch_size if size % large == 0 else size
        slope = max(0.0, (size - before) / (large - small))
        return max(0, round(size + slope * (batch_size - large)))

    @cached_property
    def _sizes(self) -> dict[str, int]:
        return {
            name: size
            for trace in self._small.traces
            for name, size in trace.events
            if name != GIVEN_BACK
        }


def forecast_of(points: Sequence[StepPeak]) -> Forecast | None:
    """From the two largest batches; None where steps were not watched."""
    watched = sorted((one for one in points if one.traces), key=lambda one: one.batch_size)
    return Forecast(*watched[-2:]) if len(watched) > 1 else None


def played(traces: Sequence[StepTrace], limit_bytes: int | None = None) -> list[int]:
    """The peak of each step in a pool of its own; MemoryError where it does not fit."""
    pool = SimulatedPool(limit_bytes)
    for size in traces[0].kept_bytes:
        pool.allocate(size)
    peaks = []
    for _ in range(_ROUNDS):
        for trace in traces:
            pool.peak_bytes = pool.in_use_bytes
            _play(trace, pool)
            peaks.append(pool.peak_bytes)
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
