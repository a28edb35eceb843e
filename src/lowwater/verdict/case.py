"""All that is judged at once: the marks and collections of one unit at one place."""

import math
from dataclasses import dataclass, replace

import numpy as np

from lowwater.model import Collection, Ending, Sample, Timeline, Unit, gauges
from lowwater.model.policy import POLICY
from lowwater.verdict.head_start import Flags, is_ahead
from lowwater.verdict.series import Floats, Series, lowest_of_stretches

# Samples of this unit are taken by the clock, at no particular point of the program.
CLOCK_UNIT = "time"
# More marks add nothing to a verdict, and the slopes of all pairs must stay affordable.
MOST_MARKS = 400
# With more units than this each has fewer marks, so that all pairs of all of them stay so.
_FULL_CASES = 24
_NONE = np.zeros(0)
_NOTHING = Series(_NONE, _NONE)


@dataclass(frozen=True, slots=True, eq=False)
class CollectedMarks:
    """What the garbage-collector experiments found, on the axis of one unit."""

    x: Floats
    before: Floats
    after: Floats
    # The same as they were measured, also in the midst of a round, where more may be live.
    measured: Series = _NOTHING

    @property
    def marks(self) -> Series:
        """Bytes that were still in use after each collection, at the boundaries."""
        return Series(self.x, self.after)

    @property
    def freed(self) -> Floats:
        """Bytes that each collection gave back."""
        return self.before - self.after


_NOT_COLLECTED = CollectedMarks(_NONE, _NONE, _NONE)


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """All that is judged at once: one unit, one place."""

    unit: Unit
    place: str
    samples: tuple[Sample, ...]
    marks: Series
    warmup: int
    collected: CollectedMarks
    is_resident: bool = False
    most_marks: int = MOST_MARKS
    # Why there will be no more rounds, where the program failed; else empty.
    broke_off: str = ""
    # Which marks are those of threads that ran ahead while we looked; None if there are none.
    ahead: Flags | None = None

    @property
    def rounds(self) -> int:
        """How many round trips the program made."""
        return max((sample.ordinal for sample in self.samples), default=0)

    @property
    def steady(self) -> Series:
        """The marks that are judged: those after warm-up, at which no thread was ahead."""
        marks = self.marks if self.ahead is None else self.marks.where(~self.ahead)
        return marks.skip(self.warmup)

    def gauge(self, name: str) -> Series:
        """Another gauge at the rounds after warm-up, where it was measured."""
        first = self.steady.x[0] if len(self.steady) else 0.0
        measured = [s for s in self.samples if s.ordinal >= first and name in s.gauges]
        every = -(-len(measured) // self.most_marks) or 1
        return _series([(s.ordinal, s.gauges[name]) for s in measured[::every]])


def most_marks(cases: int) -> int:
    """How many marks each of so many cases may have: all pairs of them are looked at."""
    return max(1, round(MOST_MARKS * min(1.0, math.sqrt(_FULL_CASES / max(cases, 1)))))


def open_case(timeline: Timeline, unit: Unit, place: str, most: int = MOST_MARKS) -> Case:
    """Gather the marks and the collections of one unit at one place, `most` marks at most."""
    samples = tuple(sorted(timeline.of(unit), key=lambda sample: sample.ordinal))
    in_use = _in_use(samples, place)
    is_resident = place == gauges.HOST and not in_use
    marks = _series(_resident(samples) if is_resident else in_use)
    if unit.name == CLOCK_UNIT:
        marks = lowest_of_stretches(marks, POLICY.clock_stretches)
    marks = lowest_of_stretches(marks, most)
    case = Case(
        unit,
        place,
        samples,
        marks,
        min(POLICY.warmup_marks, len(marks)),
        _NOT_COLLECTED,
        is_resident,
        most,
    )
    collected = _later(_collected(timeline, unit, case), case)
    if place == gauges.HOST:
        ahead = is_ahead(marks, collected.x, collected.before, collected.after)
        case = replace(case, ahead=ahead)
    return replace(case, collected=collected, broke_off=_broke_off(timeline.ending))


def _broke_off(ending: Ending | None) -> str:
    if ending is None or not ending.is_broken_off:
        return ""
    return "memory ran out" if ending.out_of_memory else "the program failed"


def start_bytes(case: Case) -> int | None:
    """What was in use when the unit began, if that was sampled."""
    started = [sample for sample in case.samples if sample.ordinal <= 0]
    return gauges.in_use_bytes(started[0].gauges, case.place) if started else None


def _in_use(samples: tuple[Sample, ...], place: str) -> list[tuple[int, int]]:
    values = ((s.ordinal, gauges.in_use_bytes(s.gauges, place)) for s in samples if s.ordinal > 0)
    return [(ordinal, value) for ordinal, value in values if value is not None]


def _resident(samples: tuple[Sample, ...]) -> list[tuple[int, int]]:
    name = gauges.RSS_ANON
    return [(s.ordinal, s.gauges[name]) for s in samples if s.ordinal > 0 and name in s.gauges]


def _series(points: list[tuple[int, int]]) -> Series:
    """Points in order of their round; of several at one round, the lowest."""
    lowest: dict[int, int] = {}
    for ordinal, value in points:
        lowest[ordinal] = min(value, lowest.get(ordinal, value))
    ordered = sorted(lowest.items())
    return Series(
        np.array([ordinal for ordinal, _ in ordered], dtype=np.float64),
        np.array([value for _, value in ordered], dtype=np.float64),
    )


def _collected(timeline: Timeline, unit: Unit, case: Case) -> CollectedMarks:
    """The collections at this unit's rounds, each with the bytes before and after it."""
    rows: dict[float, tuple[float, float]] = {}
    measured: dict[float, float] = {}
    last = 0.0
    axis = _axis(case)
    for one in timeline.collections if len(case.marks) and not case.is_resident else ():
        at = float(one.ordinal) if one.unit_id == unit.id else _round_at(axis, one.elapsed_s)
        host = case.place == gauges.HOST
        placed = _on_host(case, one, at, last) if host else _on_device(case, at)
        # Of two at one boundary, the unit's own was made there; the other was thought back to it.
        if placed is not None and (placed[0] not in rows or one.unit_id == unit.id):
            rows[placed[0]] = placed[1:]
        if placed is not None:
            last = at
            measured[at] = float(one.after_bytes)
    ordered = sorted(rows)
    return CollectedMarks(
        np.array(ordered, dtype=np.float64),
        np.array([rows[at][0] for at in ordered], dtype=np.float64),
        np.array([rows[at][1] for at in ordered], dtype=np.float64),
        Series(
            np.array(sorted(measured), dtype=np.float64),
            np.array([measured[at] for at in sorted(measured)], dtype=np.float64),
        ),
    )


def _axis(case: Case) -> tuple[Floats, Floats]:
    """When the samples of the unit were taken, and after how many rounds."""
    return (
        np.array([sample.elapsed_s for sample in case.samples], dtype=np.float64),
        np.array([sample.ordinal for sample in case.samples], dtype=np.float64),
    )


def _round_at(axis: tuple[Floats, Floats], elapsed_s: float) -> float:
    """How many rounds of the unit had passed by then, in fractions.

    A call is counted when it begins, so that the end of the loop around it is one round later.
    """
    times, ordinals = axis
    half = len(times) // 2
    round_s = (times[-1] - times[half]) / max(ordinals[-1] - ordinals[half], 1.0)
    inside = times[0] <= elapsed_s <= times[-1] + POLICY.coarser * round_s
    return float(np.interp(elapsed_s, times, ordinals)) if inside else -1.0


def _on_host(
    case: Case, one: Collection, at: float, last: float
) -> tuple[float, float, float] | None:
    """A collection at a boundary as it was; one between two, as it would have been there.

    In the midst of a round other bytes are live than at its end, but garbage is garbage:
    it has gathered since the last collection, and most of it was there at the boundary.
    """
    if one.unit_id == case.unit.id or _is_at_a_boundary(case, one, at):
        return float(round(at)), float(one.before_bytes), float(one.after_bytes)
    index = int(np.searchsorted(case.marks.x, at, side="right")) - 1
    if index < 0:
        return None
    boundary, level = float(case.marks.x[index]), float(case.marks.y[index])
    gathered = min(max((boundary - last) / (at - last), 0.0), 1.0) if at > last else 1.0
    return boundary, level, level - gathered * one.freed_bytes


def _is_at_a_boundary(case: Case, one: Collection, at: float) -> bool:
    """Whether another unit's collection was made at a boundary: by its bytes, but for the noise."""
    index = int(np.abs(case.marks.x - round(at)).argmin())
    level = float(case.marks.y[index])
    return min(abs(level - one.before_bytes), abs(level - one.after_bytes)) <= POLICY.noise_bytes


def _on_device(case: Case, at: float) -> tuple[float, float, float] | None:
    """What the device's own marks show: the last up to a collection, and the first after."""
    after = int(np.searchsorted(case.marks.x, at, side="right"))
    if not 0 < after < len(case.marks):
        return None
    return float(case.marks.x[after]), float(case.marks.y[after - 1]), float(case.marks.y[after])


def _later(collected: CollectedMarks, case: Case) -> CollectedMarks:
    """Only the collections after warm-up: before it everything is new."""
    first = case.marks.x[case.warmup - 1] if case.warmup else 0.0
    keep = collected.x > first
    measured = collected.measured.since(first) if case.place == gauges.HOST else _NOTHING
    return CollectedMarks(
        collected.x[keep], collected.before[keep], collected.after[keep], measured
    )
