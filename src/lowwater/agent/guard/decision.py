"""Whether training must end at this boundary: pure, from the levels and the room of each one.

Two things are asked. Does memory rise, steadily, up to this very boundary? And is what is left less
than the next rounds and the saving take? A plateau does not rise, at whatever height. A jump does
not rise steadily. What falls back to where it was has shown that it can be that high. And a rise is
extended by no more than it has already shown: a limit that is farther away is no danger yet.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from lowwater.model.guard import GuardedUnit, Room
from lowwater.model.policy import POLICY, Policy

# The thresholds of a rise itself are those of the verdict, in `model/policy.py`. What is here was
# set on leaks, plateaus, jumps and sawteeth that are only told (tests/unit/agent/guard), and tried
# on a few real programs (tests/integration, tests/devices). No error rate is known.

# Marks of one scale that are remembered. A rise is news only above all of them: of marks that vary
# by chance, three in a row are the highest of so many once in 250,000 times.
_REMEMBERED = 64
# Marks, of these the latest: a fall among them is the noise of the scale. A guess.
_LATEST = 16
# Marks at the end of a rise, all of which have to be above what was seen before it.
_LAST_RISES = 3
# Marks. Each scale has the lowest of so many of the one below it, as in `Policy.marks_per_low`.
_MARKS_PER_LOW = 3
# Scales. The widest has one mark for 2,187 looks.
_MOST_SCALES = 8
# Of the mean rise, each has to be this part: shares of a like size. A guess.
_LEAST_OF_MEAN = 1 / 4
# Factor to the most that a round has added of late: the next one may add a quarter more. A guess.
_NEXT_STEP = 1.25
# The same in a pool that is nearly full: measured with steps of 10 MiB, the last 19.9 went at once.
_STEP_IN_POOL = 2
# Rounds until a rise shows again, after a collection has begun it anew: five where rounds add much,
# seven where they add little.
_ROUNDS_TO_SEE = 6
# Bytes, or of a small limit this share: left free in any case, for what the kernel charges in
# advance, and what the end of `fit` takes. A guess.
_MARGIN_BYTES = 16 << 20
_MARGIN_SHARE = 1 / 32
# Times what the next round and the saving need: with less left, every boundary is looked at. A
# guess.
NEAR = 8


class Standing(NamedTuple):
    """One place at one boundary.

    `level_bytes` are in use by objects. `taken_bytes` count against the limit, and `peak_bytes` are
    the most of these so far: a step takes more than it leaves behind.
    """

    level_bytes: int
    taken_bytes: int
    peak_bytes: int


class SteadyRise(NamedTuple):
    """How memory has risen up to now: by how much in all, over how many rounds, and per look.

    A look may stand for several rounds. `above_bytes` is how far a round went above its end.
    """

    total_bytes: int
    rounds: int
    step_bytes: int
    above_bytes: int
    is_peak: bool = False

    @property
    def bytes_per_round(self) -> int:
        """The slope."""
        return round(self.total_bytes / max(1, self.rounds))

    @property
    def next_bytes(self) -> int:
        """What the next round may add."""
        return round(_NEXT_STEP * self.step_bytes)

    def needed_bytes(self, saving_bytes: int, room: Room) -> int:
        """What the next round takes, and the saving after it."""
        margin = min(_MARGIN_BYTES, round(_MARGIN_SHARE * room.limit_bytes))
        step_bytes = _STEP_IN_POOL * self.step_bytes if room.is_pool else self.next_bytes
        # Saved is at a boundary: what a step takes for itself is free by then.
        return step_bytes + max(self.above_bytes, saving_bytes) + margin

    def is_near(self, room: Room, saving_bytes: int) -> bool:
        """Whether this limit deserves a look at every boundary."""
        return room.left_bytes < NEAR * self.needed_bytes(saving_bytes, room)

    def is_settled_by_collection(self, room: Room, saving_bytes: int) -> bool:
        """Whether what a collection gave back lasts until a rise can be seen again."""
        needed = self.needed_bytes(saving_bytes, room)
        return room.left_bytes >= needed + _ROUNDS_TO_SEE * self.step_bytes

    def must_end(self, room: Room, saving_bytes: int) -> bool:
        """Whether this is the last safe boundary below this limit."""
        is_in_sight = room.left_bytes - self.above_bytes < self.total_bytes
        needed = self.needed_bytes(saving_bytes, room)
        return is_in_sight and room.left_bytes < needed


@dataclass(frozen=True, slots=True)
class _RoundLevel:
    level_bytes: int
    rounds: int


class _Scale:
    """The marks of one scale: those of the boundaries, or the lowest of every few."""

    def __init__(self) -> None:
        self.marks: list[_RoundLevel] = []
        self.waiting: list[_RoundLevel] = []

    def add(self, mark: _RoundLevel) -> _RoundLevel | None:
        """Take a mark; the lowest of the last few where there are enough for the next scale."""
        self.marks.append(mark)
        del self.marks[:-_REMEMBERED]
        self.waiting.append(mark)
        if len(self.waiting) < _MARKS_PER_LOW:
            return None
        low = min(self.waiting, key=lambda one: one.level_bytes)
        self.waiting.clear()
        return low

    def are_highest(self, stretch: Sequence[_RoundLevel]) -> bool:
        """Whether all of the last rises are above what was seen before the stretch."""
        before = self.marks[: -len(stretch)]
        highest = max((mark.level_bytes for mark in before), default=0)
        return stretch[-_LAST_RISES].level_bytes >= highest

    @property
    def largest_fall(self) -> int:
        """The noise of this scale."""
        levels = [mark.level_bytes for mark in self.marks[-_LATEST:]]
        return max((before - after for before, after in pairwise(levels)), default=0)


class UnitSeries:
    """The marks of one unit at one place, and whether they rise up to the last of them."""

    def __init__(self, policy: Policy = POLICY) -> None:
        """Nothing seen yet; the first mark will be warm-up."""
        self._policy = policy
        self._scales: list[_Scale] = []
        self._latest: _RoundLevel | None = None
        self._steps: deque[int] = deque(maxlen=policy.rises_in_a_row)
        self._peak_bytes = 0
        # How far single rounds went above their ends, where a new peak has shown it.
        self._above: deque[_RoundLevel] = deque(maxlen=_LATEST)
        self._peaks: deque[_RoundLevel] = deque(maxlen=policy.rises_in_a_row + 2)

    def add(self, rounds: int, standing: Standing) -> SteadyRise | None:
        """Take the mark after so many rounds; how it rises, if it does."""
        mark, before = _RoundLevel(standing.level_bytes, rounds), self._latest
        self._note_peak(rounds, standing, is_first=before is None)
        self._latest = mark
        if before is None:
            return None
        self._steps.append(mark.level_bytes - before.level_bytes)
        self._add_to_scales(mark)
        rises = [*self._rises_of_levels(mark), *self._rises_of_peaks(standing)]
        return max(rises, key=lambda rise: rise.total_bytes, default=None)

    def forget(self) -> None:
        """Begin again, with the next mark: what rose until now was waiting for the collector."""
        self._scales.clear()
        self._steps.clear()
        self._above.clear()
        self._peaks.clear()
        self._latest = None

    def _add_to_scales(self, mark: _RoundLevel) -> None:
        low: _RoundLevel | None = mark
        for number in range(_MOST_SCALES):
            if low is None:
                return
            if number == len(self._scales):
                self._scales.append(_Scale())
            low = self._scales[number].add(low)

    def _note_peak(self, rounds: int, standing: Standing, *, is_first: bool) -> None:
        is_new = standing.peak_bytes > self._peak_bytes
        self._peak_bytes = max(self._peak_bytes, standing.peak_bytes)
        if is_first:
            return
        if not is_new:
            self._peaks.clear()
            return
        above = max(0, standing.peak_bytes - standing.taken_bytes)
        self._above.append(_RoundLevel(above, rounds))
        # Against the level, so that a rise of the level is not told as one of the peaks.
        self._peaks.append(_RoundLevel(standing.peak_bytes - standing.level_bytes, rounds))

    def _above_since(self, rounds: int) -> int:
        """Only of these rounds: what building the model took does not come again."""
        return max((one.level_bytes for one in self._above if one.rounds >= rounds), default=0)

    def _rises_of_levels(self, latest: _RoundLevel) -> Iterable[SteadyRise]:
        for number, scale in enumerate(self._scales):
            stretch = self._climb_of(scale.marks, is_finest=number == 0)
            if not stretch:
                continue
            total = stretch[-1].level_bytes - stretch[0].level_bytes
            rounds = max(1, stretch[-1].rounds - stretch[0].rounds)
            ahead = latest.rounds - stretch[-1].rounds
            has_gone_on = latest.level_bytes - stretch[-1].level_bytes
            # The lows of a wide scale are old: what has stopped since then rises no more.
            if has_gone_on < ahead * total / rounds / self._policy.alike:
                continue
            if total <= self._policy.alike * scale.largest_fall or not scale.are_highest(stretch):
                continue
            step = max(*self._steps, round(total / rounds))
            yield SteadyRise(total, rounds, step, self._above_since(stretch[0].rounds))

    def _climb_of(self, marks: list[_RoundLevel], *, is_finest: bool) -> Sequence[_RoundLevel]:
        """The marks at the end that rise every time by shares of a like size, if there are any."""
        policy = self._policy
        rises = policy.rises_in_a_row
        few = marks[-rises:]
        if is_finest and _is_climb(few, rises - 1, policy.large_rise_bytes, policy.alike):
            return _longest_climb(marks, rises - 1)
        many = rises + 1 if is_finest else rises
        if _is_climb(marks[-many - 1 :], many, policy.least_rise_bytes, None):
            return _longest_climb(marks, many)
        return ()

    def _rises_of_peaks(self, standing: Standing) -> Iterable[SteadyRise]:
        """Each step takes more than the one before, though it leaves nothing behind."""
        marks, rises = [*self._peaks], self._policy.rises_in_a_row + 1
        if not _is_climb(marks[-rises - 1 :], rises, self._policy.least_rise_bytes, None):
            return
        total = marks[-1].level_bytes - marks[0].level_bytes
        rounds = marks[-1].rounds - marks[0].rounds
        step = max(after.level_bytes - before.level_bytes for before, after in pairwise(marks))
        above = max(0, standing.peak_bytes - standing.taken_bytes)
        yield SteadyRise(total, rounds, step, above, is_peak=True)


def _steps_of(marks: Sequence[_RoundLevel]) -> list[int]:
    return [after.level_bytes - before.level_bytes for before, after in pairwise(marks)]


def _is_climb(
    marks: Sequence[_RoundLevel], rises: int, least_bytes: int, most_ratio: float | None
) -> bool:
    """Whether each mark is above the one before, by shares of a like size, and enough in all."""
    if len(marks) <= rises:
        return False
    steps = _steps_of(marks)
    total = sum(steps)
    if total < least_bytes or min(steps) <= 0:
        return False
    if most_ratio is not None:
        return max(steps) <= most_ratio * min(steps)
    return min(steps) * len(steps) >= _LEAST_OF_MEAN * total


def _longest_climb(marks: list[_RoundLevel], least: int) -> list[_RoundLevel]:
    """As far back as it rises every time, by shares of a like size."""
    steps = _steps_of(marks)[::-1]
    total, smallest, count = sum(steps[:least]), min(steps[:least]), least
    for step in steps[least:]:
        total, smallest = total + step, min(smallest, step)
        if smallest <= 0 or smallest * (count + 1) < _LEAST_OF_MEAN * total:
            break
        count += 1
    return marks[-count - 1 :]


class Decision:
    """Keeps the series of all units, by place, and the highest level that was ever held."""

    def __init__(self, policy: Policy = POLICY) -> None:
        """Nothing seen yet."""
        self._policy = policy
        self._series: dict[tuple[GuardedUnit, str], UnitSeries] = {}
        self._highest: dict[str, int] = {}

    def passes(
        self, unit: GuardedUnit, place: str, rounds: int, standing: Standing
    ) -> SteadyRise | None:
        """Take a boundary; how memory rises there, unless it has been that high before."""
        series = self._series.setdefault((unit, place), UnitSeries(self._policy))
        rise = series.add(rounds, standing)
        highest = self._highest.get(place, 0)
        self._highest[place] = max(highest, standing.level_bytes)
        if rise is None:
            return None
        is_known = standing.level_bytes + rise.next_bytes <= highest
        return None if is_known and not rise.is_peak else rise

    def collected(self, place: str) -> None:
        """A collection has taken back what rose: all series of this place begin again."""
        for (_, where), series in self._series.items():
            if where == place:
                series.forget()
