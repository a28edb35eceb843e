"""The allocations of a step with a batch that nobody has tried.

Each allocation grows with the batch in its own way, which two batch sizes show. So a step that was
watched becomes one of any batch size: the same allocations in the same order, as large as that
batch has them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from lowwater.model.footprint import StepPeak
from lowwater.model.step_trace import GIVEN_BACK, StepTrace

# Share of what was asked for. Where fewer bytes have names that other batch sizes have too, these
# are not the same steps. A guess: of 12 models, none had less than 0.94.
_LEAST_KNOWN = 0.5


class AllocationGrowth(NamedTuple):
    """How one allocation grows: its size at one batch, and what each sample adds."""

    batch_size: int
    size_bytes: int
    per_sample: float

    def at(self, batch_size: int) -> int:
        """Its size there."""
        return max(0, round(self.size_bytes + self.per_sample * (batch_size - self.batch_size)))


class Forecast:
    """Steps of any batch size, made of those of the largest one that was watched."""

    def __init__(self, watched: Sequence[StepPeak]) -> None:
        """At least one step of each batch size was watched; smallest batch first."""
        self._watched = watched
        self._largest = watched[-1]
        self._sizes = _sizes_by_name(watched)
        self._made: tuple[int, list[StepTrace]] = (0, [])

    def traces(self, batch_size: int) -> list[StepTrace]:
        """What such steps would ask for."""
        if self._made[0] != batch_size:
            self._made = batch_size, [self._grown(one, batch_size) for one in self._largest.traces]
        return self._made[1]

    def growing_bytes(self, batch_size: int) -> int:
        """What of the most that is asked for at once grows with the batch."""
        most = max(self.traces(batch_size), key=lambda trace: trace.needed_bytes)
        slopes = (self._growths[name].per_sample for name in most.alive_at_most)
        return round(batch_size * sum(slopes))

    @cached_property
    def miss(self) -> float:
        """How far the sizes of the largest batch are from what the others say of them.

        As a share of all these sizes; 1 where the others do not have these allocations.
        """
        batch_size = self._largest.batch_size
        real, others = self._sizes_at(batch_size), _sizes_by_name(self._watched[:-1])
        known = {name for name in real if len(others.get(name, ())) > 1}
        total = sum(real[name] for name in known)
        if total < _LEAST_KNOWN * sum(real.values()):
            return 1.0
        misses = (abs(_growth(others[name]).at(batch_size) - real[name]) for name in known)
        return sum(misses) / max(1, total)

    def _grown(self, trace: StepTrace, batch_size: int) -> StepTrace:
        events = (
            (name, size if name == GIVEN_BACK else self._growths[name].at(batch_size))
            for name, size in trace.events
        )
        return StepTrace(trace.before_bytes, tuple(events))

    def _sizes_at(self, batch_size: int) -> dict[str, int]:
        found = ((name, one.get(batch_size)) for name, one in self._sizes.items())
        return {name: size for name, size in found if size is not None}

    @cached_property
    def _growths(self) -> dict[str, AllocationGrowth]:
        known = {name: _growth(one) for name, one in self._sizes.items() if len(one) > 1}
        batch_size = self._largest.batch_size
        alike = _slopes_by_size(known, batch_size)
        found = dict(known)
        for name, size in self._sizes_at(batch_size).items():
            if name not in known:
                slope = alike.get(size, _slope_of_samples(size, batch_size))
                found[name] = AllocationGrowth(batch_size, size, slope)
        return found


def _sizes_by_name(watched: Sequence[StepPeak]) -> dict[str, dict[int, int]]:
    """By batch size; the largest, where steps with one batch differ."""
    found: dict[str, dict[int, int]] = {}
    for point in watched:
        for trace in point.traces:
            for name, size in trace.sizes.items():
                sizes = found.setdefault(name, {})
                sizes[point.batch_size] = max(size, sizes.get(point.batch_size, 0))
    return found


def _growth(sizes: Mapping[int, int]) -> AllocationGrowth:
    """By the two largest batch sizes."""
    small, large = sorted(sizes)[-2:]
    return AllocationGrowth(large, sizes[large], (sizes[large] - sizes[small]) / (large - small))


def _slopes_by_size(known: Mapping[str, AllocationGrowth], batch_size: int) -> dict[int, float]:
    """How most of those grow that are of one size.

    TensorFlow copies a weight before it changes it, if somebody still reads it: some allocations
    are in one step by chance. What is as large as they are grows like them.
    """
    slopes: dict[int, Counter[float]] = {}
    for growth in known.values():
        slopes.setdefault(growth.at(batch_size), Counter())[growth.per_sample] += 1
    return {size: counted.most_common(1)[0][0] for size, counted in slopes.items()}


def _slope_of_samples(size: int, batch_size: int) -> float:
    """Whole samples tell that it grows with them."""
    return 0.0 if size % batch_size else size / batch_size
