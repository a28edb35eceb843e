"""The low-water marks of one unit at one place: what a verdict looks at."""

from dataclasses import dataclass

import numpy as np

from lowwater import gauges
from lowwater.model import Sample, Timeline, Unit
from lowwater.verdict.trend import Floats

# Samples of this unit are taken by the clock, at no particular point of the program.
CLOCK_UNIT = "time"
# The clock strikes at any point of a round, so its samples scatter more.
FEWEST_CLOCK_SAMPLES = 20
# More marks add nothing to a verdict, and the slopes of all pairs must stay affordable.
_MOST_MARKS = 400
# A stretch of clock samples must be this long to hope that its lowest one met a low point.
_CLOCK_STRETCHES = 16


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """Bytes `y` at the rounds `x`, the rounds ascending."""

    x: Floats
    y: Floats

    def __len__(self) -> int:
        """How many marks there are."""
        return len(self.x)

    @property
    def span(self) -> float:
        """How many rounds lie between the first mark and the last."""
        return float(self.x[-1] - self.x[0]) if len(self) else 0.0

    def skip(self, count: int) -> "Series":
        """The marks without the first `count`."""
        return Series(self.x[count:], self.y[count:])

    def since(self, round_: float) -> "Series":
        """The marks from that round on."""
        return Series(self.x[self.x >= round_], self.y[self.x >= round_])


@dataclass(frozen=True, slots=True, eq=False)
class Collected:
    """What the garbage-collector experiments found, on the axis of one unit."""

    x: Floats
    before: Floats
    after: Floats

    @property
    def marks(self) -> Series:
        """Bytes that were still in use after each collection."""
        return Series(self.x, self.after)

    @property
    def freed(self) -> Floats:
        """Bytes that each collection gave back."""
        return self.before - self.after


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """All that is judged at once: one unit, one place."""

    unit: Unit
    place: str
    samples: tuple[Sample, ...]
    marks: Series
    warmup: int
    collected: Collected
    is_resident: bool = False

    @property
    def rounds(self) -> int:
        """How many round trips the program made."""
        return max((sample.ordinal for sample in self.samples), default=0)

    @property
    def steady(self) -> Series:
        """The marks after warm-up."""
        return self.marks.skip(self.warmup)

    def gauge(self, name: str) -> Series:
        """Another gauge at the rounds after warm-up, where it was measured."""
        first = self.steady.x[0] if len(self.steady) else 0.0
        measured = [s for s in self.samples if s.ordinal >= first and name in s.gauges]
        return _series([(s.ordinal, s.gauges[name]) for s in measured])


def open_case(timeline: Timeline, unit: Unit, place: str) -> Case:
    """Gather the marks and the collections of one unit at one place."""
    samples = tuple(sorted(timeline.of(unit), key=lambda sample: sample.ordinal))
    in_use = _in_use(samples, place)
    is_resident = place == gauges.HOST and not in_use
    marks = _series(_resident(samples) if is_resident else in_use)
    if unit.name == CLOCK_UNIT:
        marks = _lowest_of_stretches(marks, _CLOCK_STRETCHES)
    marks = _lowest_of_stretches(marks, _MOST_MARKS)
    warmup = _warmup(len(marks))
    collected = _collected(timeline, unit, samples, marks if place != gauges.HOST else None)
    return Case(unit, place, samples, marks, warmup, _later(collected, marks, warmup), is_resident)


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


def _warmup(count: int) -> int:
    """The first rounds build graphs and fill caches: two of them, one in a short run."""
    return 2 if count >= 8 else 1 if count >= 5 else 0


def _lowest_of_stretches(series: Series, most: int) -> Series:
    """At most `most` marks, each the lowest of a stretch of samples."""
    if len(series) <= most:
        return series
    stretches = np.array_split(np.arange(len(series)), most)
    lowest = np.array([part[np.argmin(series.y[part])] for part in stretches])
    return Series(series.x[lowest], series.y[lowest])


def _collected(
    timeline: Timeline, unit: Unit, samples: tuple[Sample, ...], seen: Series | None
) -> Collected:
    """The collections at this unit's rounds; for a device, as its samples around them show."""
    times = np.array([sample.elapsed_s for sample in samples], dtype=np.float64)
    ordinals = np.array([sample.ordinal for sample in samples], dtype=np.float64)
    rows: dict[float, tuple[float, float]] = {}
    for one in timeline.collections:
        if not len(times) or not times[0] <= one.elapsed_s <= times[-1]:
            continue
        own = one.unit_id == unit.id
        at = float(one.ordinal) if own else float(np.interp(one.elapsed_s, times, ordinals))
        around = _around(seen, at) if seen is not None else (one.before_bytes, one.after_bytes)
        if around is not None:
            rows[at] = around
    x = sorted(rows)
    return Collected(
        np.array(x, dtype=np.float64),
        np.array([rows[at][0] for at in x], dtype=np.float64),
        np.array([rows[at][1] for at in x], dtype=np.float64),
    )


def _around(seen: Series, at: float) -> tuple[float, float] | None:
    """The last mark up to a round, and the first one after it."""
    index = int(np.searchsorted(seen.x, at, side="right"))
    return (float(seen.y[index - 1]), float(seen.y[index])) if 0 < index < len(seen) else None


def _later(collected: Collected, marks: Series, warmup: int) -> Collected:
    """Only the collections after warm-up: before it everything is new."""
    first = marks.x[warmup - 1] if 0 < warmup <= len(marks) else -np.inf
    keep = collected.x > first
    return Collected(collected.x[keep], collected.before[keep], collected.after[keep])
