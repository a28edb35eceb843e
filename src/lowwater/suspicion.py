"""Decides, boundary by boundary, when a rise deserves a collection, and when a census.

A flat run is never collected on our behalf: that would change the program that we watch.
A rising one is, now and then: what falls was waiting for the collector, what stays is held.
"""

from collections import deque
from itertools import pairwise
from typing import NamedTuple

# Below this a rise is the noise of malloc's caches and of Python's own bookkeeping.
LEAST_RISE_BYTES = 512 * 1024
# Four rises in a row happen by chance in one of 120 orders of five marks.
RISES_IN_A_ROW = 4
# A rise this large needs less repetition: a six-epoch run has to be told as well.
LARGE_RISE_BYTES = 4 * 1024 * 1024
LARGE_RISES_IN_A_ROW = 3
# Where garbage is collected every third round, no four marks rise in a row, but their lows do;
# and where a round adds little, the lows of nine rounds do, or of 27, or of hundreds.
MARKS_PER_LOW = 3
RISES_OF_LOWS = 2
LEAST_RISE_OF_LOWS_BYTES = 1024 * 1024
SCALES = 7
# The very first round trip builds graphs and caches: it says nothing.
WARM_UP = 1
# The marks are spread over the run: each comes this much later than the last, by time …
SPREAD = 1.3
# … and while memory rises, collecting takes at most this share of it. At the end of a loop
# there is no later chance, so more is allowed, and in any case one more where most of the rise
# is above all levels that were tried: garbage and leak look the same until then.
COLLECTING_SHARE = 0.2
COLLECTING_SHARE_AT_END = 0.5
UNTESTED_SHARE = 0.5
# After so many collections the verdict has what it needs: from then on they are rare.
MANY = 12
COLLECTING_SHARE_LATER = 0.05
# All objects are looked at so many times in a run at the most, …
MOST_CENSUSES = 5
# … the second time soon, for one alone tells nothing, …
LEAST_ROUNDS_BETWEEN = 3
# … and then each time this much later than the one before, by time, and with twice the growth. At
# the end of a loop the time does not matter.
CENSUS_SPREAD = 1.5
GROWTH_SPREAD = 2.0
# A census is taken where the last one was, unless so many chances were elsewhere.
MOST_PASSED_ELSEWHERE = 3
# One census alone tells nothing: with so much growth behind it, the second is taken anywhere.
URGENT_BYTES = 16 * 1024 * 1024


class _Lows:
    """The lowest of every few values, the lowest of every few of these, and so on."""

    def __init__(self) -> None:
        self._waiting: list[list[int]] = [[] for _ in range(SCALES)]
        self._found: list[deque[int]] = [deque(maxlen=RISES_OF_LOWS + 1) for _ in range(SCALES)]

    def add(self, mark: int) -> bool:
        """Take a mark; True when the lows of some scale have risen with it."""
        low, rises = mark, False
        for waiting, found in zip(self._waiting, self._found, strict=True):
            waiting.append(low)
            if len(waiting) < MARKS_PER_LOW:
                break
            low = min(waiting)
            waiting.clear()
            found.append(low)
            rises |= _climbs(tuple(found), RISES_OF_LOWS, LEAST_RISE_OF_LOWS_BYTES)
        return rises


class Rise:
    """The recent marks of one unit."""

    def __init__(self) -> None:
        """Nothing seen yet."""
        self._marks: deque[int] = deque(maxlen=RISES_IN_A_ROW + 1)
        self._lows = _Lows()
        self._warm_up = WARM_UP
        self.first_bytes: int | None = None
        self.has_risen = False
        self.is_suspected = False

    def add(self, in_use_bytes: int) -> bool:
        """Take a mark; True when this unit has risen steadily and a collection is due."""
        if self._warm_up > 0:
            self._warm_up -= 1
            return self.is_suspected
        self._marks.append(in_use_bytes)
        self.first_bytes = self.first_bytes or in_use_bytes
        rises = self._lows.add(in_use_bytes) or self._marks_rise()
        self.has_risen |= rises
        return self.is_suspected or rises

    def risen(self, in_use_bytes: int) -> int:
        """How much the unit has risen since its warm-up."""
        return in_use_bytes - self.first_bytes if self.first_bytes is not None else 0

    def _marks_rise(self) -> bool:
        marks = tuple(self._marks)
        few = marks[-LARGE_RISES_IN_A_ROW - 1 :]
        return _climbs(marks, RISES_IN_A_ROW, LEAST_RISE_BYTES) or _climbs(
            few, LARGE_RISES_IN_A_ROW, LARGE_RISE_BYTES
        )


class _LastCensus(NamedTuple):
    unit_id: int
    ordinal: int
    elapsed_s: float
    held_bytes: int


class Suspicion:
    """Watches all units and allows a limited number of collections and censuses in a run."""

    def __init__(self) -> None:
        """Suspect nothing."""
        self._rises: dict[int, Rise] = {}
        self._first_s: float | None = None
        self._next_s = 0.0
        self._next_at_end_s = 0.0
        self._latest_bytes = 0
        self._tested_bytes = 0
        self._collected_bytes = 0
        self._collections = 0
        self._censuses = 0
        self._first_held_bytes = 0
        self._last_census: _LastCensus | None = None
        self._passed_elsewhere = 0

    def wants_collection(
        self, unit_id: int, in_use_bytes: int, elapsed_s: float, *, at_end: bool = False
    ) -> bool:
        """Take a mark of a unit; True when the collector should be run now."""
        if self._first_s is None:
            self._first_s = elapsed_s
        rise = self._rises.get(unit_id)
        if rise is None:
            rise = self._rises[unit_id] = Rise()
        is_rising = rise.add(in_use_bytes)
        # Two units rise with the same memory: one collection serves both.
        is_news = in_use_bytes - self._collected_bytes >= LEAST_RISE_BYTES // 2
        next_s = self._next_at_end_s if at_end else self._next_s
        # The end comes right after the last round: no rise between these two.
        is_last_chance = at_end and rise.has_risen and self._is_untested(rise, in_use_bytes)
        self._latest_bytes = in_use_bytes
        return is_news and (is_last_chance or (is_rising and elapsed_s >= next_s))

    def _is_untested(self, rise: Rise, in_use_bytes: int) -> bool:
        """Whether no collection was tried at such a level: at an end there may be no other chance.

        One census alone tells nothing, so the second one needs less of a reason.
        """
        untested = in_use_bytes - self._tested_bytes
        share = 0.0 if self._censuses == 1 else UNTESTED_SHARE
        return untested >= max(LEAST_RISE_BYTES // 2, share * rise.risen(in_use_bytes))

    def collected(self, unit_id: int, after_bytes: int, elapsed_s: float, took_s: float) -> None:
        """Take note of a collection; from now on this unit's rise need not prove itself."""
        self._rises[unit_id].is_suspected = True
        self._tested_bytes = max(self._tested_bytes, self._latest_bytes)
        self._collected_bytes = after_bytes
        self._collections += 1
        is_enough = self._collections >= MANY
        share = COLLECTING_SHARE_LATER if is_enough else COLLECTING_SHARE
        at_end = COLLECTING_SHARE_LATER if is_enough else COLLECTING_SHARE_AT_END
        watched_s = elapsed_s - (self._first_s or 0.0)
        self._next_s = elapsed_s + max(watched_s * (SPREAD - 1), took_s / share)
        self._next_at_end_s = elapsed_s + took_s / at_end

    def wants_census(
        self, unit_id: int, ordinal: int, held_bytes: int, elapsed_s: float, *, at_end: bool = False
    ) -> bool:
        """After a collection: True when what was not freed deserves a look at all objects."""
        last = self._last_census
        if last is None:
            first_bytes = self._rises[unit_id].first_bytes
            return first_bytes is not None and held_bytes - first_bytes >= LEAST_RISE_BYTES
        if self._censuses >= MOST_CENSUSES or held_bytes - last.held_bytes < LEAST_RISE_BYTES:
            return False
        # Elsewhere in the program other functions run; but the same place may not come again.
        if unit_id != last.unit_id:
            self._passed_elsewhere += 1
            is_urgent = self._censuses == 1 and held_bytes - last.held_bytes >= URGENT_BYTES
            has_waited = self._passed_elsewhere >= MOST_PASSED_ELSEWHERE
            if not (at_end or is_urgent or has_waited):
                return False
        if self._censuses == 1:
            rounds = ordinal - last.ordinal if unit_id == last.unit_id else LEAST_ROUNDS_BETWEEN
            return at_end or rounds >= LEAST_ROUNDS_BETWEEN
        first_s = self._first_s or 0.0
        is_later = elapsed_s - first_s >= (last.elapsed_s - first_s) * CENSUS_SPREAD
        seen_bytes = last.held_bytes - self._first_held_bytes
        has_grown = held_bytes - self._first_held_bytes >= GROWTH_SPREAD * seen_bytes
        return has_grown and (is_later or at_end)

    def census_taken(self, unit_id: int, ordinal: int, held_bytes: int, elapsed_s: float) -> None:
        """Take note of a census."""
        if not self._censuses:
            self._first_held_bytes = held_bytes
        self._censuses += 1
        self._passed_elsewhere = 0
        self._last_census = _LastCensus(unit_id, ordinal, elapsed_s, held_bytes)


def _climbs(marks: tuple[int, ...], rises: int, least_bytes: int) -> bool:
    """Whether the last marks rose, every time, by shares of a like size: one jump is no climb."""
    recent = marks[-rises - 1 :]
    total = recent[-1] - recent[0] if len(recent) > rises else 0
    if total < least_bytes:
        return False
    steps = (high - low for low, high in pairwise(recent))
    return min(steps) * rises * 4 >= total
