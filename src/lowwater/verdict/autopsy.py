"""Why memory ran out: a leak, too big, or fragmented; *inconclusive* is an answer too.

A leak has filled what was free in the first rounds; without it the same step would have fitted.
What is too big would not have fitted in the first round either. Where it is fragmented there was
enough, and no piece of it was large enough.
"""

from collections.abc import Sequence
from dataclasses import replace

from lowwater.model import Ending, Finding, Timeline, Verdict, gauges
from lowwater.model.autopsy import Autopsy, Scene
from lowwater.model.holding import GROWN, Holding
from lowwater.verdict.autopsy_advice import about_batch, largest_batch, next_steps
from lowwater.verdict.shortage import Shortage, limit_met, shortage_of
from lowwater.verdict.shortage_rules import decide


def autopsy_of(
    timeline: Timeline, verdicts: Sequence[Verdict] = (), findings: Sequence[Finding] = ()
) -> Autopsy | None:
    """Why memory ran out in a run; None where it did not."""
    ending = timeline.ending
    if ending is None or not ending.out_of_memory:
        return None
    scene = timeline.scene or Scene()
    request = scene.request
    limit = limit_met(scene, timeline.devices)
    facts = shortage_of(timeline, scene, limit, verdicts)
    manner, because, questions = decide(facts)
    place = gauges.HOST if request is None else request.place
    held, note = _held(scene, findings, place, facts)
    batch = None if request is None else request.batch_size
    largest = largest_batch(manner, facts, batch)
    advice, commands = next_steps(manner, facts, timeline, scene)
    return Autopsy(
        manner,
        because,
        place,
        request,
        limit_name=limit.name if limit is not None else None,
        limit_bytes=facts.limit,
        in_use_bytes=facts.in_use,
        kept_bytes=facts.kept,
        pool=scene.pool if scene.pool is None or scene.pool.size_bytes else None,
        held=held,
        held_note=note,
        batch_size=batch,
        largest_batch=largest,
        about_batch=about_batch(manner, facts, batch, largest),
        advice=advice,
        commands=commands,
        notes=scene.notes,
        questions=questions,
    )


def autopsy_of_scene(scene: Scene) -> Autopsy:
    """The same where nothing but the failure itself was seen, as in an isolated call."""
    ending = Ending(scene.elapsed_s, 1, out_of_memory=True)
    # There is no script to be typed behind a command, nor a unit that could be judged.
    found = autopsy_of(Timeline(ending=ending, scene=scene))
    assert found is not None
    return replace(found, commands=tuple(one for one in found.commands if "import" in one))


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
    return (f"the program caught {count} from TensorFlow and continued{which}{at}: {error}",)


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
        Holding(GROWN, 1, (one.bytes_per_unit or 0) * units, place, one.holder, one.where)
        for one in findings
        if one.holder and one.bytes_per_unit
    )
    if grown:
        return grown, "by the last heap scan"
    return (
        (),
        "not known: the process was killed before a heap scan could tell"
        if facts.was_killed
        else "",
    )
