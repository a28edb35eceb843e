"""The same run, shorter or seen otherwise: pure functions from Timeline to Timeline."""

import math
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from itertools import pairwise
from random import Random
from typing import Any

from lowwater.model import Timeline, Unit

Transform = Callable[[Timeline], Timeline]


def cut(timeline: Timeline, unit: Unit, rounds: int) -> Timeline:
    """All that was known when the unit had made so many rounds."""
    seen_s = max(s.elapsed_s for s in timeline.of(unit) if s.ordinal <= rounds)
    # What was done at that boundary (a collection, a census) came before the next sample.
    until_s = min((s.elapsed_s for s in timeline.samples if s.elapsed_s > seen_s), default=math.inf)
    known = {name: _before(items, until_s) for name, items in _dated(timeline).items()}
    early = replace(timeline, **known)
    is_last = len(early.censuses) == len(timeline.censuses)
    return replace(
        early,
        units=tuple(one for one in timeline.units if early.of(one)),
        holders=timeline.holders if is_last else (),
        tallies=timeline.tallies if is_last else (),
        native_trace=None,
        overhead=None,
        ending=None,
        experiments=None,
    )


def every_second_sample(timeline: Timeline) -> Timeline:
    """Half the samples of each unit, the first and the last among them."""
    return _thinned(timeline, 2)


def ten_times_fewer(timeline: Timeline) -> Timeline:
    """A tenth of the samples of each unit, the first and the last among them."""
    return _thinned(timeline, 10)


def stretched(timeline: Timeline) -> Timeline:
    """The same on a machine that is three times as slow."""
    return _at(timeline, lambda elapsed_s: 3 * elapsed_s)


def jittered(timeline: Timeline, seed: int = 7) -> Timeline:
    """The same with other pauses in between: half as long up to twice as long, in order."""
    rng = Random(seed)
    dated = [one for items in _dated(timeline).values() for one in items]
    ends = [timeline.ending] if timeline.ending else []
    moments = sorted({0.0, *(one.elapsed_s for one in (*dated, *ends))})
    later, now_s = {0.0: 0.0}, 0.0
    for before_s, after_s in pairwise(moments):
        now_s += (after_s - before_s) * 2 ** rng.uniform(-1, 1)
        later[after_s] = now_s
    return _at(timeline, later.__getitem__)


COPIES: tuple[Transform, ...] = (every_second_sample, ten_times_fewer, stretched, jittered)


def _before(items: Iterable[Any], until_s: float) -> tuple[Any, ...]:
    return tuple(item for item in items if item.elapsed_s < until_s)


def _thinned(timeline: Timeline, every: int) -> Timeline:
    kept: set[int] = set()
    for unit in timeline.units:
        samples = timeline.of(unit)
        kept |= {id(sample) for sample in (*samples[::every], *samples[-1:])}
    samples = tuple(sample for sample in timeline.samples if id(sample) in kept)
    return replace(timeline, samples=samples, outside=timeline.outside[::every])


def _dated(timeline: Timeline) -> dict[str, tuple[Any, ...]]:
    """All that has a moment: samples, collections, censuses, looks from outside, notes …"""
    parts = {field.name: getattr(timeline, field.name) for field in fields(timeline) if field.init}
    return {
        name: items
        for name, items in parts.items()
        if isinstance(items, tuple) and items and hasattr(items[0], "elapsed_s")
    }


def _at(timeline: Timeline, moved: Callable[[float], float]) -> Timeline:
    def move(item: Any) -> Any:
        return replace(item, elapsed_s=moved(item.elapsed_s))

    parts = {name: tuple(map(move, items)) for name, items in _dated(timeline).items()}
    return replace(timeline, **parts, ending=timeline.ending and move(timeline.ending))
