"""The same run, shorter or seen otherwise: pure functions from Timeline to Timeline."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any

from lowwater.model import Sample, Timeline, Unit

Transform = Callable[[Timeline], Timeline]


def cut(timeline: Timeline, unit: Unit, rounds: int) -> Timeline:
    """All that was known when the unit had made so many rounds."""
    seen_s = max(s.elapsed_s for s in timeline.of(unit) if s.ordinal <= rounds)
    # What was done at that boundary (a collection, a census) came before the next sample.
    until_s = min((s.elapsed_s for s in timeline.samples if s.elapsed_s > seen_s), default=1e300)
    samples = tuple(s for s in timeline.samples if s.elapsed_s <= seen_s)
    censuses = _before(timeline.censuses, until_s)
    is_last = len(censuses) == len(timeline.censuses)
    ids = {sample.unit_id for sample in samples}
    return replace(
        timeline,
        units=tuple(one for one in timeline.units if one.id in ids),
        samples=samples,
        collections=_before(timeline.collections, until_s),
        outside=_before(timeline.outside, until_s),
        censuses=censuses,
        holders=timeline.holders if is_last else (),
        tallies=timeline.tallies if is_last else (),
        notes=_before(timeline.notes, until_s),
        native_trace=None,
        footprint=None,
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
    moments = sorted({0.0, *(one.elapsed_s for one in _dated(timeline))})
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


def _dated(timeline: Timeline) -> Iterable[Sample | Any]:
    for items in (timeline.samples, timeline.collections, timeline.outside, timeline.censuses):
        yield from items
    yield from timeline.notes
    if timeline.ending is not None:
        yield timeline.ending


def _at(timeline: Timeline, moved: Callable[[float], float]) -> Timeline:
    def move(items: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(replace(item, elapsed_s=moved(item.elapsed_s)) for item in items)

    return replace(
        timeline,
        samples=move(timeline.samples),
        collections=move(timeline.collections),
        outside=move(timeline.outside),
        censuses=move(timeline.censuses),
        notes=move(timeline.notes),
        ending=next(iter(move([timeline.ending])), None) if timeline.ending else None,
    )
