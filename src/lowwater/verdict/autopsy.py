"""Why memory ran out: a leak, too big, or fragmented; *inconclusive* is an answer too.

A leak has filled what was free in the first rounds; without it the same step would have fitted.
What is too big would not have fitted in the first round either. Where it is fragmented there was
enough, and no piece of it was large enough.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from lowwater.model import Ending, Finding, Kind, Sample, Timeline, Unit, Verdict, gauges
from lowwater.model.autopsy import Autopsy, LimitSeen, Manner, Scene
from lowwater.model.devices import Device
from lowwater.model.holding import Holding
from lowwater.model.units import format_bytes
from lowwater.verdict import words
from lowwater.verdict.case import CLOCK_UNIT, open_case
from lowwater.verdict.marks import judge_case

HOST_POOL: Final = "TensorFlow's pool on the host"
# The gauge of the host's pool, as if it were a device: to the host it is a part of malloc.
_POOL: Final = "pool"
# A leak fills what there is. Where more than this was free, it was not for want of memory.
_MUCH_FREE: Final = 1 / 4
# Of what was free in the first rounds: with less, a leak is not what ended the run.
_MOST_OF_ROOM: Final = 1 / 2
# A growth that did not reach this share of what there is has not filled it.
_LEAST_RISE: Final = 1 / 20
_FEWEST_RISES: Final = 2
# Before that it is not known how little was ever in use.
_FEWEST_SEEN: Final = 3
# Steps of a climb, each this share of it: what climbs so is filled bit by bit.
_FEWEST_STEPS: Final = 8
_LEAST_STEP: Final = 1 / 50
_EARLY: Final = 1 / 4
_SCRIPT: Final = "script"
_UNKNOWN_SCRIPT: Final = "YOUR_SCRIPT.py"
_MACHINE: Final = "the machine's memory"


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


def autopsy_of(
    timeline: Timeline, verdicts: Sequence[Verdict] = (), findings: Sequence[Finding] = ()
) -> Autopsy | None:
    """Why memory ran out in a run; None where it did not."""
    ending = timeline.ending
    if ending is None or not ending.out_of_memory:
        return None
    scene = timeline.scene or Scene()
    request = scene.request
    limit = _limit(scene, timeline.devices)
    facts = facts_of(timeline, scene, limit, verdicts)
    manner, because = decide(facts)
    place = gauges.HOST if request is None else request.place
    held, note = _held(scene, findings, place, facts)
    batch = None if request is None else request.batch_size
    largest = _largest_batch(manner, facts, batch)
    advice, commands = _next(manner, facts, timeline, scene)
    return Autopsy(
        manner,
        because,
        place,
        request,
        limit.name if limit is not None else None,
        facts.limit,
        facts.in_use,
        facts.kept,
        scene.pool if scene.pool is None or scene.pool.size_bytes else None,
        held,
        note,
        batch,
        largest,
        _about_batch(manner, facts, batch, largest),
        advice,
        commands,
        scene.notes,
    )


def about_caught(timeline: Timeline) -> tuple[str, ...]:
    """A sentence about the errors that the program has caught; of TensorFlow all are seen."""
    ending, request = timeline.ending, timeline.scene.request if timeline.scene else None
    is_last_uncaught = ending is not None and ending.out_of_memory and request is not None
    caught = timeline.times_no_room - is_last_uncaught
    if caught < 1 or timeline.no_room is None:
        return ()
    error, where = timeline.no_room
    count = "an out-of-memory error" if caught == 1 else f"{caught:,} out-of-memory errors"
    which = "" if caught == 1 else ", the first"
    at = f" at {where}" if where else ""
    return (f"the program caught {count} of TensorFlow and continued{which}{at}: {error}",)


def autopsy_of_scene(scene: Scene) -> Autopsy:
    """The same where nothing but the failure itself was seen, as in an isolated call."""
    ending = Ending(scene.elapsed_s, 1, out_of_memory=True)
    # There is no script to be typed behind a command, nor a unit that could be judged.
    found = autopsy_of(Timeline(ending=ending, scene=scene))
    assert found is not None
    return replace(found, commands=tuple(one for one in found.commands if "import" in one))


def decide(facts: Shortage) -> tuple[Manner, str]:
    """The answer and its reason."""
    for rule in (
        _alone,
        _in_pieces,
        _leak,
        _heap_in_pieces,
        _others,
        _free,
        _step,
        _level,
        _rising,
    ):
        found = rule(facts)
        if found is not None:
            return found
    if facts.climbs:
        return Manner.INCONCLUSIVE, (
            "memory filled up step by step before a round trip was complete: whether it would have "
            "stopped cannot be seen"
        )
    if not facts.has_rounds:
        return Manner.INCONCLUSIVE, (
            "what went before was not watched, so that it may be a leak or too big"
        )
    if facts.limit is None and facts.requested is None and facts.growth is None:
        return Manner.INCONCLUSIVE, "too little was seen before memory ran out"
    return Manner.TOO_BIG, "it failed in its first rounds, before anything could build up"


def facts_of(
    timeline: Timeline, scene: Scene, limit: LimitSeen | None, verdicts: Sequence[Verdict]
) -> Shortage:
    """What is known of the place that ran out."""
    ending = timeline.ending
    request, pool = scene.request, scene.pool
    place = gauges.HOST if request is None else request.place
    is_host_pool = pool is not None and place == gauges.HOST
    seen, where = (_of_pool(timeline), _POOL) if is_host_pool else (timeline, place)
    series = [one for sample in seen.samples if (one := _in_use(sample, where)) is not None]
    growth = _growth(seen, where, verdicts if where != _POOL else ())
    was_killed = request is None
    kept = scene.in_use_bytes.get(where) if pool is not None or place != gauges.HOST else None
    limit_bytes = limit.limit_bytes if limit is not None else None
    return Shortage(
        limit.name if limit is not None else "memory",
        request.size_bytes if request is not None else None,
        limit_bytes,
        _used(scene, limit, ending) if kept is None or pool is not None else kept,
        kept,
        pool.available_bytes if pool is not None else _room(limit),
        pool.largest_free_bytes if pool is not None and pool.size_bytes else None,
        min(series) if where != gauges.HOST and len(series) >= _FEWEST_SEEN else None,
        _early_peak(timeline),
        max((one.anon_bytes for one in timeline.outside), default=None),
        ending.peak_rss_bytes if ending is not None else None,
        growth,
        _grown(growth),
        _rises(seen, where, limit_bytes),
        _climbs(
            [one.anon_bytes for one in timeline.outside] if was_killed else series, limit_bytes
        ),
        was_killed,
        has_rounds=bool(timeline.units or timeline.samples or timeline.outside),
    )


def _alone(facts: Shortage) -> tuple[Manner, str] | None:
    """Nothing but this would have to be there."""
    requested, limit = facts.requested, facts.limit
    if requested is None or limit is None or requested + (facts.lowest or 0) <= limit:
        return None
    much, total = format_bytes(requested), format_bytes(limit)
    if requested > limit:
        return Manner.TOO_BIG, f"one allocation alone, of {much}, is larger than all {total}"
    ever = format_bytes(limit - (facts.lowest or 0))
    return Manner.TOO_BIG, (
        f"one allocation alone, of {much}, is larger than what was ever free: {ever} of {total}"
    )


def _in_pieces(facts: Shortage) -> tuple[Manner, str] | None:
    requested, free, largest = facts.requested, facts.free, facts.largest_free
    if requested is None or free is None or largest is None or not largest < requested <= free:
        return None
    if _leaks(facts) and free < _MUCH_FREE * (facts.limit or 0):
        return None
    return Manner.FRAGMENTED, (
        f"{format_bytes(free)} was free, but in pieces of {format_bytes(largest)} at the most, and "
        f"{format_bytes(requested)} was asked for in one piece"
    )


def _leak(facts: Shortage) -> tuple[Manner, str] | None:
    growth = facts.growth
    if growth is None or not _leaks(facts):
        return None
    unit = growth.unit or Unit(-1, "round")
    rate = format_bytes(growth.growth_bytes_per_unit or 0)
    grew = f"grew by {rate} in each {words.one(unit)}, {format_bytes(facts.grown)} in all"
    if _fits_without(facts):
        return Manner.LEAK, f"{_subject(growth)} {grew}, and filled what was free at the start"
    return Manner.TOO_BIG, (
        f"it would not fit without the leak either: {_subject(growth)} {grew}, which is less than "
        "what is missing"
    )


def _heap_in_pieces(facts: Shortage) -> tuple[Manner, str] | None:
    growth = facts.growth
    if growth is None or growth.kind is not Kind.FRAGMENTED:
        return None
    return Manner.FRAGMENTED, growth.because


def _others(facts: Shortage) -> tuple[Manner, str] | None:
    """The machine ran out, and it was not this program that had most of it."""
    peak, limit = facts.own_peak, facts.limit
    is_shared = facts.was_killed and facts.name == _MACHINE
    if not is_shared or peak is None or limit is None or peak >= _MOST_OF_ROOM * limit:
        return None
    return Manner.INCONCLUSIVE, (
        f"the machine ran out of memory while this program had {format_bytes(peak)} of "
        f"{format_bytes(limit)}: other processes had the rest"
    )


def _free(facts: Shortage) -> tuple[Manner, str] | None:
    """Much was free, and nobody knows how much was asked for."""
    if (
        facts.requested is not None
        or facts.was_killed
        or facts.free is None
        or facts.in_use is None
    ):
        return None
    if facts.free < _MUCH_FREE * (facts.limit or 0):
        return None
    return Manner.INCONCLUSIVE, (
        f"the error does not say how much was asked for, and {format_bytes(facts.free)} was free"
    )


def _step(facts: Shortage) -> tuple[Manner, str] | None:
    """The step needs more than is left beside what stays; it did so from the first round on."""
    demand = _demand(facts)
    if demand is None or facts.limit is None or facts.kept is None:
        return None
    stays = facts.kept - sum(facts.rises)
    is_large = demand >= _MUCH_FREE * facts.limit
    if not is_large or stays + demand <= facts.limit:
        return None
    left = format_bytes(max(0, facts.limit - facts.kept))
    return Manner.TOO_BIG, (
        f"one step needs at least {format_bytes(demand)}, and {left} is left beside the "
        f"{format_bytes(facts.kept)} that stay in use"
    )


def _level(facts: Shortage) -> tuple[Manner, str] | None:
    growth = facts.growth
    if growth is None or growth.is_leak is not False:
        return None
    if growth.kind is Kind.CACHE:
        return Manner.TOO_BIG, "it fills up once, and what it fills with is more than there is"
    rounds = words.counted(growth.units_seen, growth.unit) if growth.unit else "the rounds"
    return Manner.TOO_BIG, (
        f"{_subject(growth)} did not go on growing over {rounds}, so nothing leaks; the program "
        "needs more than there is"
    )


def _rising(facts: Shortage) -> tuple[Manner, str] | None:
    if len(facts.rises) < _FEWEST_RISES:
        return None
    each = format_bytes(sum(facts.rises) / len(facts.rises))
    return Manner.INCONCLUSIVE, (
        f"memory rose by about {each} in each of the last {len(facts.rises)} rounds, which looks "
        "like a leak, but so few rounds cannot tell it from memory that fills up once"
    )


def _leaks(facts: Shortage) -> bool:
    return facts.growth is not None and facts.growth.is_leak is True and facts.grown > 0


def _fits_without(facts: Shortage) -> bool:
    """Whether it would have fitted, had nothing leaked until then."""
    limit = facts.limit if facts.limit is not None else facts.highest
    if limit is None:
        return True
    if facts.in_use is not None and facts.requested is not None:
        return facts.in_use + facts.requested - facts.grown <= limit
    # It ended above the limit, nobody knows by how much: the leak has to explain most of the way.
    return facts.grown >= _MOST_OF_ROOM * (limit - (facts.early or facts.lowest or 0))


def _demand(facts: Shortage) -> int | None:
    """What the step that failed had taken and was asking for, at the least."""
    if facts.in_use is None or facts.kept is None:
        return None
    return max(0, facts.in_use - facts.kept) + (facts.requested or 0)


def _subject(verdict: Verdict) -> str:
    return "memory" if verdict.place == _POOL else words.memory_of(verdict.place)


def _limit(scene: Scene, devices: Sequence[Device]) -> LimitSeen | None:
    """The one that was met: of the pool or the device that refused, else the tightest."""
    pool, place = scene.pool, scene.request.place if scene.request is not None else gauges.HOST
    if pool is not None and pool.limit_bytes is not None:
        name = HOST_POOL if place == gauges.HOST else place
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
    told = gauges.device_gauge(_POOL, gauges.IN_USE)
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
        is_much = sum(steps) >= _LEAST_RISE * (limit or (marks[-1] if marks else 0))
        if len(steps) >= _FEWEST_RISES and min(steps) > 0 and is_much:
            return tuple(steps)
    return ()


def _climbs(series: Sequence[int], limit: int | None) -> bool:
    """Whether it was filled bit by bit: of half that is full, an import may be the reason."""
    high = [one for one in series if one >= _MOST_OF_ROOM * (limit or max(series, default=0))]
    if len(high) < _FEWEST_STEPS:
        return False
    total = max(high) - min(high)
    steps = sum(after - before >= _LEAST_STEP * total > 0 for before, after in pairwise(high))
    return steps >= _FEWEST_STEPS


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
    until = min(times) + _EARLY * (max(times) - min(times))
    inside = [one.gauges.get(gauges.RSS_ANON, 0) for one in rounds if one.elapsed_s <= until]
    outside = [one.anon_bytes for one in timeline.outside if one.elapsed_s <= until]
    return max(*inside, *outside, 0) or None


def _held(
    scene: Scene, findings: Sequence[Finding], place: str, facts: Shortage
) -> tuple[tuple[Holding, ...], str]:
    """Who held it: as it was seen in the end, or as the last heap scan has seen it."""
    if scene.held:
        is_pool = scene.pool is not None and place == gauges.HOST
        return tuple(
            one
            for one in scene.held
            if one.place == place and not (is_pool and one.kind in ("objects", "array"))
        ), ""
    units = facts.growth.units_seen if facts.growth is not None else 0
    grown = tuple(
        Holding("grown", 1, (one.bytes_per_unit or 0) * units, place, one.holder, one.where)
        for one in findings
        if one.holder and one.bytes_per_unit
    )
    if grown:
        return grown, "by the last heap scan"
    return (), "the process was killed, and no heap scan was due before" if facts.was_killed else ""


def _largest_batch(manner: Manner, facts: Shortage, batch: int | None) -> int | None:
    demand = _demand(facts)
    if manner is not Manner.TOO_BIG or not batch or not demand:
        return None
    if facts.limit is None or facts.kept is None or facts.kept >= facts.limit:
        return None
    fits = batch * (facts.limit - facts.kept) // demand
    return fits if 0 < fits < batch else None


def _about_batch(manner: Manner, facts: Shortage, batch: int | None, largest: int | None) -> str:
    if manner is Manner.LEAK and facts.growth is not None and facts.growth.growth_bytes_per_unit:
        return "a smaller one only postpones the end: the leak fills any memory"
    if manner is Manner.FRAGMENTED and facts.largest_free:
        return f"requests of up to {format_bytes(facts.largest_free)} would still have fitted"
    if largest is not None:
        return f"at most about {largest} would have fitted, instead of {batch}"
    return ""


def _next(
    manner: Manner, facts: Shortage, timeline: Timeline, scene: Scene
) -> tuple[str, tuple[str, ...]]:
    """What to do, and what to type for it."""
    script = timeline.environment.get(_SCRIPT) or _UNKNOWN_SCRIPT
    if manner is Manner.TOO_BIG:
        limit = f' --limit "{format_bytes(facts.limit)}"' if facts.limit else ""
        return "Find the largest batch that fits", (f"lowwater footprint{limit} {script}",)
    if manner is Manner.FRAGMENTED:
        return _against_pieces(scene, script)
    if manner is Manner.LEAK:
        return "Fix the leak first; to find its cause by experiments", (
            f"lowwater diagnose {script}",
        )
    return "To see more rounds, shorten them or raise the limit", (f"lowwater run {script}",)


def _against_pieces(scene: Scene, script: str) -> tuple[str, tuple[str, ...]]:
    place = scene.request.place if scene.request is not None else gauges.HOST
    if scene.pool is not None and place != gauges.HOST:
        if "PyTorch" in scene.pool.name:
            setting = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"
        else:
            setting = "TF_GPU_ALLOCATOR=cuda_malloc_async"
        return "Let the driver join free pieces", (f"{setting} lowwater run {script}",)
    if scene.pool is not None:
        return "Allocate the largest tensors first, or ask for less in one piece", ()
    return "Return free memory to the system after each round", (
        "import psutil; psutil.heap_trim()",
    )
