"""Decides, boundary by boundary, when a rise deserves a collection, and when a census.

A flat run is never collected on our behalf: that would change the program that we watch.
A rising one is, now and then: what falls was waiting for the collector, what stays is held.
When that is follows from rounds and bytes alone, so that a busy machine changes nothing; what it
costs is held down by the brake.
"""

from collections import deque
from itertools import pairwise
from math import ceil
from typing import NamedTuple

from lowwater.model.policy import Policy

# One census alone tells nothing: growth is what two of them differ in.
ENOUGH_CENSUSES = 2


# An even number of them: two become one.
_MOST_LOWS = 32


class _Mark(NamedTuple):
    """The bytes in use at a boundary; the lowest comes first."""

    in_use_bytes: int
    ordinal: int


class _Lows:
    """The lowest of every few marks, the lowest of every few of these, and so on."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._waiting: list[list[_Mark]] = []
        self._found: list[deque[_Mark]] = []

    def add(self, low: _Mark) -> _Mark | None:
        """Take a mark; where the lows of some scale have risen with it, the first of them."""
        began, scale = None, 0
        while True:
            if scale == len(self._waiting):
                self._waiting.append([])
                self._found.append(deque(maxlen=3))
            self._waiting[scale].append(low)
            if len(self._waiting[scale]) < self._policy.marks_per_low:
                return began
            low = min(self._waiting[scale])
            self._waiting[scale].clear()
            self._found[scale].append(low)
            # Each low stands for several marks: two rises of them are as good as four of marks.
            began = _climb(self._found[scale], 2, 2 * self._policy.least_rise_bytes) or began
            scale += 1


class _Whole:
    """All marks so far in a few low points, wider ones as they become more: for slow rises."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._width = 1
        self._waiting = 0
        self._lowest: _Mark | None = None
        self._lows: list[_Mark] = []

    def add(self, mark: _Mark) -> _Mark | None:
        """Take a mark; where it has risen from quarter to quarter of the run, the first low."""
        self._waiting += 1
        self._lowest = mark if self._lowest is None else min(mark, self._lowest)
        if self._waiting < self._width:
            return None
        self._lows.append(self._lowest)
        self._waiting, self._lowest = 0, None
        if len(self._lows) == _MOST_LOWS:
            self._lows = [min(pair) for pair in _pairs(self._lows)]
            self._width *= 2
        rises = self._policy.rises_in_a_row
        if len(self._lows) <= 2 * rises:
            return None
        spread = [self._lows[index * (len(self._lows) - 1) // rises] for index in range(rises + 1)]
        return _climb(deque(spread), rises, 2 * self._policy.least_rise_bytes)


def _pairs(lows: list[_Mark]) -> list[tuple[_Mark, _Mark]]:
    """Each two that follow each other."""
    return [*zip(lows[::2], lows[1::2], strict=True)]


class Rise:
    """The recent marks of one unit, and the round in which its next collection is due."""

    def __init__(self, policy: Policy) -> None:
        """Nothing seen yet."""
        self._policy = policy
        self._marks: deque[_Mark] = deque(maxlen=policy.rises_in_a_row + 1)
        self._lows = _Lows(policy)
        self._whole = _Whole(policy)
        self._began: _Mark | None = None
        self._is_warm = False
        self.first: _Mark | None = None
        self.latest_ordinal = -1
        self.due_ordinal = 0
        self.is_suspected = False

    @property
    def has_risen(self) -> bool:
        """Whether this unit has ever risen steadily."""
        return self._began is not None

    def add(self, ordinal: int, in_use_bytes: int) -> bool:
        """Take a mark; True when this unit rises steadily, or has been collected for that."""
        # The end of a loop comes right after its last round: that is no mark of its own.
        is_new, self.latest_ordinal = ordinal != self.latest_ordinal, ordinal
        if not self._is_warm:  # the very first round trip builds graphs and caches
            self._is_warm = True
            return False
        began = self._climb_to(_Mark(in_use_bytes, ordinal)) if is_new else None
        self._began = self._began or began
        return self.is_suspected or began is not None

    def risen(self, in_use_bytes: int) -> int:
        """How much the unit has risen since its warm-up."""
        return in_use_bytes - self.first.in_use_bytes if self.first is not None else 0

    def wait(self) -> None:
        """From here on it takes some more rounds until a collection is due."""
        began = self._began or self.first
        rounds = self.latest_ordinal - began.ordinal if began is not None else 0
        self.due_ordinal = self.latest_ordinal + max(1, ceil((self._policy.spread - 1) * rounds))

    def _climb_to(self, mark: _Mark) -> _Mark | None:
        policy = self._policy
        self.first = self.first or mark
        self._marks.append(mark)
        few = policy.rises_in_a_row - 1
        return (
            self._lows.add(mark)
            or self._whole.add(mark)
            or _climb(self._marks, policy.rises_in_a_row, policy.least_rise_bytes)
            or _climb(self._marks, few, policy.large_rise_bytes)
        )


class _Census(NamedTuple):
    unit_id: int
    held_bytes: int


class Suspicion:
    """Watches the units of a thread, which pass in turn: one collection serves them all."""

    def __init__(self, policy: Policy, most_censuses: int) -> None:
        """Suspect nothing."""
        self._policy = policy
        self._most_censuses = most_censuses
        self._rises: dict[int, Rise] = {}
        self._latest_bytes = 0
        self._tested_bytes = 0
        self._collected_bytes = 0
        self._collections = 0
        self._first_held_bytes = 0
        self._last_census: _Census | None = None
        # Where the unit of the last census was when it was last waited for.
        self._place_seen = -1
        self.censuses = 0

    @property
    def lacks_a_census(self) -> bool:
        """Whether the one that was taken tells nothing yet."""
        return 0 < self.censuses < ENOUGH_CENSUSES

    def lacks_only_a_census(self, in_use_bytes: int) -> bool:
        """Whether it does, and hardly anything was added since the last collection."""
        return self.lacks_a_census and self._is_collected(in_use_bytes)

    def wants_collection(
        self, unit_id: int, ordinal: int, in_use_bytes: int, *, at_end: bool = False
    ) -> bool:
        """Take a mark of a unit; True when the collector should be run now.

        `at_end` is the end of a loop that is within no other: those end in every round of it.
        """
        rise = self._rises.setdefault(unit_id, Rise(self._policy))
        is_rising = rise.add(ordinal, in_use_bytes)
        self._latest_bytes = in_use_bytes
        # Two units rise with the same memory: what was just collected is no news to the other.
        if self._is_collected(in_use_bytes):
            return False
        if at_end and rise.has_risen and self._is_untested(rise, in_use_bytes):
            return True
        is_due = is_rising and ordinal >= rise.due_ordinal
        return is_due and (at_end or not self._leaves_it_to_another(unit_id, in_use_bytes))

    def collected(self, unit_id: int, after_bytes: int) -> None:
        """Take note of a collection; from now on this unit's rise need not prove itself."""
        self._rises[unit_id].is_suspected = True
        self._tested_bytes = max(self._tested_bytes, self._latest_bytes)
        self._collected_bytes = after_bytes
        self._collections += 1
        for rise in self._rises.values():
            rise.wait()

    def wants_census(self, unit_id: int, held_bytes: int, *, at_end: bool = False) -> bool:
        """After a collection: True when what was not freed deserves a look at all objects."""
        if self._last_census is None:
            return self._rises[unit_id].risen(held_bytes) >= self._policy.least_rise_bytes
        # Two are often all that a short run can afford: the second needs something to show.
        is_early = self.lacks_a_census and not at_end
        grown = held_bytes - self._last_census.held_bytes
        if is_early and grown < self._policy.second_look_bytes:
            return False
        return self._has_grown(self._last_census, held_bytes)

    def risen(self, unit_id: int, held_bytes: int) -> int:
        """How much a unit has risen since its warm-up; nothing where no mark of it was taken."""
        rise = self._rises.get(unit_id)
        return rise.risen(held_bytes) if rise is not None else 0

    def census_taken(self, unit_id: int, held_bytes: int) -> None:
        """Take note of a census."""
        if not self.censuses:
            self._first_held_bytes = held_bytes
        self.censuses += 1
        self._last_census = _Census(unit_id, held_bytes)
        self._place_seen = self._rises[unit_id].latest_ordinal

    def started_over(self, held_bytes: int) -> None:
        """The census just taken can be compared with none before it: it is the first again."""
        self.censuses = 1
        self._first_held_bytes = held_bytes

    def _is_collected(self, in_use_bytes: int) -> bool:
        return in_use_bytes - self._collected_bytes < self._policy.least_rise_bytes // 2

    def _is_untested(self, rise: Rise, in_use_bytes: int) -> bool:
        """Whether much of the rise is above all levels that were tried.

        Garbage and leak look the same until then, and at an end there may be no other chance. One
        census alone tells nothing, and what two collections left behind may have risen by chance:
        so the second census and the third collection need less of a reason.
        """
        untested = in_use_bytes - self._tested_bytes
        is_short = self.lacks_a_census or self._collections < self._policy.marks_of_a_piece
        share = 0.0 if is_short else self._policy.untested
        return untested >= max(self._policy.least_rise_bytes // 2, share * rise.risen(in_use_bytes))

    def _has_grown(self, last: _Census, held_bytes: int) -> bool:
        """Whether there is enough growth behind the last census for another."""
        if self.censuses >= self._most_censuses:
            return False
        if held_bytes - last.held_bytes < self._policy.least_rise_bytes:
            return False
        seen = last.held_bytes - self._first_held_bytes
        return held_bytes - self._first_held_bytes >= self._policy.spread * seen

    def _leaves_it_to_another(self, unit_id: int, in_use_bytes: int) -> bool:
        """Whether to wait for the place of the last census: elsewhere other functions run.

        Unless that place was waited for before, and did not come again.
        """
        last = self._last_census
        if last is None or last.unit_id == unit_id or not self._has_grown(last, in_use_bytes):
            return False
        place = self._rises[last.unit_id]
        if place.latest_ordinal == self._place_seen:
            return False
        self._place_seen = place.latest_ordinal
        self._rises[unit_id].wait()
        return True


def _climb(marks: deque[_Mark], rises: int, least_bytes: int) -> _Mark | None:
    """Where the last marks rose, every time, by shares of a like size: the first of them.

    One jump is no climb.
    """
    recent = [*marks][-rises - 1 :]
    total = recent[-1].in_use_bytes - recent[0].in_use_bytes if len(recent) > rises else 0
    if total < least_bytes:
        return None
    steps = (high.in_use_bytes - low.in_use_bytes for low, high in pairwise(recent))
    return recent[0] if min(steps) * rises * 4 >= total else None
