"""The callable that is placed into code, and counts how often the program passes."""

import functools
from itertools import chain, repeat
from operator import itemgetter
from time import perf_counter
from typing import Any

from lowwater.agent.observer import Observer, rounds_per_sample
from lowwater.recording.thinning import slot_width

# A tick looks at the clock once in this many passes, or up to twice as many, at the most: a hot
# loop pays 30 ns a pass, and one that turns slow is noticed soon.
MOST_SKIPPED = 256
_ANY_PRIME = 7919
# A loop of fewer passes is part of something larger, and its end no last chance.
FEWEST_OF_A_LOOP = 4
_HOT_S = 0.0005
_SLOW_S = 0.005
# After this many looks a unit is known well: from then on they come some milliseconds apart, as
# rarely as the samples that it can afford.
_FINE_LOOKS = 256
_COARSER = 32


class Passes:
    """Counts the passes of one place, and tells the observer about them at a bearable rate."""

    def __init__(self, observer: Observer, name: str, where: str | None = None) -> None:
        """Count for this unit; it is registered at the first pass."""
        self._observer = observer
        self._name = name
        self._where = where
        self._unit_id: int | None = None
        self._is_refused = False
        self._counted = 0
        self._stride = 1
        self._step = 1
        # The passes to be let by unseen; in a list, where the tick finds the latest.
        self.skipping = [repeat(0, 0)]
        self._looks = 0
        self._last_s = perf_counter()
        self._last_end = 0
        self._next_end = 0
        self._next_end_s = 0.0

    def look(self) -> int:
        """Take note of a pass, and let some of the next ones by unseen; how many it stands for."""
        self._counted += self._step
        # A signal may cut this short: then the next pass is looked at, too.
        self._step = 1
        self._note(self._counted - 1)
        self._adapt(perf_counter())
        # Never twice the same: of passes from some lines in turn, none must be hidden for good.
        step = self._stride + self._looks * _ANY_PRIME % self._stride
        self.skipping[0] = repeat(0, step - 1)
        self._step = step
        return step

    def after_last(self) -> None:
        """The loop has ended: all passes so far are completed round trips."""
        unseen = self.skipping[0].__length_hint__()
        self._end(self._counted + self._step - 1 - unseen if self._counted else 0)

    def after_last_completed(self) -> None:
        """The same for places that are passed at the end of a round trip."""
        self._end(self._counted)

    def _end(self, completed: int) -> None:
        """Take note of the end of a loop, unless it was over before it said anything."""
        passed, self._last_end = completed - self._last_end, completed
        now_s = perf_counter()
        if passed < FEWEST_OF_A_LOOP:
            return
        # A loop that ends all the time is looked at now and then, a slow one each time.
        if completed >= self._next_end or now_s >= self._next_end_s:
            self._next_end = completed + slot_width(completed)
            self._next_end_s = now_s + _SLOW_S
            self._note(completed, at_end=True)

    def completed(self) -> None:
        """One round trip has ended; for places that are passed at its end."""
        self._counted += 1
        self._note(self._counted)

    def begin(self) -> None:
        """Mark the state before the first round trip, unless there was one already."""
        if not self._counted:
            self._note(0)

    def _note(self, completed: int, *, at_end: bool = False) -> None:
        if self._unit_id is None and not self._is_refused and self._observer.is_on:
            self._unit_id = self._observer.unit_id(self._name, self._where)
            self._is_refused = self._unit_id is None
        if self._unit_id is not None:
            self._observer.boundary(self._unit_id, completed, at_end=at_end)

    def _adapt(self, now_s: float) -> None:
        passed_s, self._last_s = now_s - self._last_s, now_s
        self._looks += 1
        scale = 1 if self._looks <= _FINE_LOOKS else _COARSER
        if passed_s < _HOT_S * scale:
            # However hot it is: no round is missed that is sampled at any cost.
            most = min(MOST_SKIPPED, max(1, rounds_per_sample(self._counted) // 2))
            self._stride = min(most, self._stride * 2)
        elif passed_s > _SLOW_S * scale:
            self._stride = 1


class Tick(functools.partial[Any]):
    """A call without arguments that stands as a constant in the code of the user's functions.

    Where such a function is pickled to another process, its ticks become calls of `dict()`:
    harmless, false, and no import.
    """

    def __reduce__(self) -> Any:  # noqa: ANN401 - pickle's own protocol
        """Pickle as the type `dict`."""
        return type, ({},)


def tick_for(passes: Passes) -> Tick:
    """A call that costs 30 ns and runs no Python: true for the passes to be looked at.

    No signal handler runs in it, and nothing can be raised in it. The iterators never end: those
    that are let by, then one to be looked at, then the next that are let by.
    """
    let_by = map(itemgetter(0), repeat(passes.skipping))
    return Tick(next, chain.from_iterable(chain.from_iterable(zip(let_by, repeat((1,))))))
