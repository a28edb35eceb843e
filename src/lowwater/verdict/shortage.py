"""What is known of a shortage: read from the run, and from what was seen where memory ran out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from lowwater.model import Ending, Sample, Timeline, Verdict, gauges
from lowwater.model.autopsy import IN_HOST_POOL, LimitSeen, Scene
from lowwater.model.devices import Device
from lowwater.model.shortage_policy import SHORTAGE_POLICY
from lowwater.verdict.case import CLOCK_UNIT, open_case
from lowwater.verdict.marks import judge_case

_HOST_POOL_NAME: Final = "TensorFlow's pool on the host"


@dataclass(frozen=True, slots=True)
class Shortage:
    """What the decision is taken from, in bytes; None for what nobody knows.

    `in_use` is at the failure, `kept` when the step that failed had given back its own, `lowest`
    the least that was ever in use, and `early` the most that was in the first rounds. `grown` is
    what a leak has added until then.
    """

    name: str = "memory"
    requested: int | None = None
    limit: int | None = None
    in_use: int | None = None
    kept: int | None = None
    free: int | None = None
    largest_free: int | None = None
    lowest: int | None = None
    early: int | None = None
    # The most that was seen of the same, where no limit is known.
    highest: int | None = None
    own_peak: int | None = None
    growth: Verdict | None = None
    grown: int = 0
    # By how much it rose in each of the last rounds, where it rose in all of them.
    rises: tuple[int, ...] = ()
    climbs: bool = False
    was_killed: bool = False
    # Not where only the failure itself was seen, as in an isolated call.
    has_rounds: bool = True

    @property
    def leaks(self) -> bool:
        """Whether it is certain that a leak has added to it."""
        return self.growth is not None and self.growth.is_leak is True and self.grown > 0

    @property
    def demand(self) -> int | None:
        """What the step that failed had taken and was asking for, at the least."""
        if self.in_use is None or self.kept is None:
            return None
        return max(0, self.in_use - self.kept) + (self.requested or 0)


def shortage_of(
    timeline: Timeline, scene: Scene, limit: LimitSeen | None, verdicts: Sequence[Verdict]
) -> Shortage:
    """What is known of the place that ran out."""
    ending = timeline.ending
    request, pool = scene.request, scene.pool
    place = gauges.HOST if request is None else request.place
    is_host_pool = pool is not None and place == gauges.HOST
    seen, where = (_of_pool(timeline), IN_HOST_POOL) if is_host_pool else (timeline, place)
    series = [one for sample in seen.samples if (one := _in_use(sample, where)) is not None]
    growth = _growth(seen, where, verdicts if where != IN_HOST_POOL else ())
    was_killed = request is None
    kept = scene.in_use_bytes.get(where) if pool is not None or place != gauges.HOST else None
    limit_bytes = limit.limit_bytes if limit is not None else None
    is_seen = len(series) >= SHORTAGE_POLICY.fewest_seen
    return Shortage(
        name=limit.name if limit is not None else "memory",
        requested=request.size_bytes if request is not None else None,
        limit=limit_bytes,
        in_use=_used(scene, limit, ending) if kept is None or pool is not None else kept,
        kept=kept,
        free=pool.available_bytes if pool is not None else _room(limit),
        largest_free=pool.largest_free_bytes if pool is not None and pool.size_bytes else None,
        lowest=min(series) if where != gauges.HOST and is_seen else None,
        early=_early_peak(timeline),
        highest=max((one.anon_bytes for one in timeline.outside), default=None),
        own_peak=ending.peak_rss_bytes if ending is not None else None,
        growth=growth,
        grown=_grown(growth),
        rises=_rises(seen, where, limit_bytes),
        climbs=_climbs(
            [one.anon_bytes for one in timeline.outside] if was_killed else series, limit_bytes
        ),
        was_killed=was_killed,
        has_rounds=bool(timeline.units or timeline.samples or timeline.outside),
    )


def limit_met(scene: Scene, devices: Sequence[Device]) -> LimitSeen | None:
    """The one that was met: of the pool or the device that refused, else the tightest."""
    pool, place = scene.pool, scene.request.place if scene.request is not None else gauges.HOST
    if pool is not None and pool.limit_bytes is not None:
        name = _HOST_POOL_NAME if place == gauges.HOST else place
        return LimitSeen(name, pool.limit_bytes, pool.in_use_bytes)
    if place != gauges.HOST:
        limits = [one.limit_bytes for one in devices if one.place == place and one.limit_bytes]
        return LimitSeen(place, limits[0], scene.in_use_bytes.get(place)) if limits else None
    room = [one for one in scene.limits if one.used_bytes is not None]
    if room:
        return min(room, key=lambda one: one.limit_bytes - (one.used_bytes or 0))
    return min(scene.limits, key=lambda one: one.limit_bytes, default=None)


def _room(limit: LimitSeen | None) -> int | None:
    if limit is None or limit.used_bytes is None:
        return None
    return max(0, limit.limit_bytes - limit.used_bytes)


def _of_pool(timeline: Timeline) -> Timeline:
    """The timeline of the host's pool alone, which tells what is in use of it to the byte."""
    told = gauges.device_gauge(IN_HOST_POOL, gauges.IN_USE)
    samples = tuple(
        replace(one, gauges={told: one.gauges[gauges.POOL_IN_USE]})
        for one in timeline.samples
        if gauges.POOL_IN_USE in one.gauges
    )
    return replace(timeline, samples=samples, collections=())


def _in_use(sample: Sample, place: str) -> int | None:
    return gauges.in_use_bytes(sample.gauges, place)


def _growth(timeline: Timeline, place: str, known: Sequence[Verdict]) -> Verdict | None:
    """The verdict on the place that ran out, by its most telling unit: a leak before all."""
    found = [one for one in known if one.place == place]
    if place != gauges.HOST and not found:
        found = [
            judge_case(open_case(timeline, unit, place))
            for unit in timeline.units
            if any(_in_use(sample, place) is not None for sample in timeline.of(unit))
        ]
    # By the clock alone a program that only loads its data would leak.
    found = [one for one in found if one.unit is None or one.unit.name != CLOCK_UNIT]
    certain = [one for one in found if one.is_leak is not None]
    leaks = [one for one in certain if one.is_leak]
    return max(leaks or certain or found, key=_grown, default=None)


def _grown(verdict: Verdict | None) -> int:
    if verdict is None or not verdict.growth_bytes_per_unit or not verdict.is_leak:
        return 0
    return max(0, verdict.growth_bytes_per_unit * verdict.units_seen)


def _rises(timeline: Timeline, place: str, limit: int | None) -> tuple[int, ...]:
    """Of the unit with the fewest rounds that has enough; by the clock there are no rounds."""
    for unit in sorted(timeline.units, key=lambda one: len(timeline.of(one))):
        if unit.name == CLOCK_UNIT:
            continue
        marks = [one for s in timeline.of(unit) if (one := _in_use(s, place)) is not None]
        # The first round makes what all later ones use.
        steps = [after - before for before, after in pairwise(marks[1:])]
        is_much = sum(steps) >= SHORTAGE_POLICY.least_rise * (limit or (marks[-1] if marks else 0))
        if len(steps) >= SHORTAGE_POLICY.fewest_rises and min(steps) > 0 and is_much:
            return tuple(steps)
    return ()


def _climbs(series: Sequence[int], limit: int | None) -> bool:
    """Whether it was filled bit by bit: of half that is full, an import may be the reason."""
    high = [
        one
        for one in series
        if one >= SHORTAGE_POLICY.climbs_above * (limit or max(series, default=0))
    ]
    if len(high) < SHORTAGE_POLICY.fewest_steps:
        return False
    total = max(high) - min(high)
    steps = sum(
        after - before >= SHORTAGE_POLICY.least_step * total > 0 for before, after in pairwise(high)
    )
    return steps >= SHORTAGE_POLICY.fewest_steps


def _used(scene: Scene, limit: LimitSeen | None, ending: Ending | None) -> int | None:
    """When it failed; of a process that was killed, the most that it was seen to have."""
    if scene.pool is not None:
        return scene.pool.in_use_bytes
    if limit is not None and limit.used_bytes is not None:
        return limit.used_bytes
    return ending.peak_rss_bytes if ending is not None and scene.request is None else None


def _early_peak(timeline: Timeline) -> int | None:
    """The most that was resident in the first rounds, what each gives back included."""
    rounds = [
        sample for unit in timeline.units if unit.name != CLOCK_UNIT for sample in timeline.of(unit)
    ]
    times = [one.elapsed_s for one in rounds]
    if not times:
        return None
    until = min(times) + SHORTAGE_POLICY.early * (max(times) - min(times))
    inside = [one.gauges.get(gauges.RSS_ANON, 0) for one in rounds if one.elapsed_s <= until]
    outside = [one.anon_bytes for one in timeline.outside if one.elapsed_s <= until]
    return max(*inside, *outside, 0) or None
