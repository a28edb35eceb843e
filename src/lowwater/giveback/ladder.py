"""Climbs the ladder, measures around each step, and writes the receipt."""

from lowwater.giveback.hollow import is_shell
from lowwater.giveback.living import MODEL, OPTIMIZER, SESSION, Watched, deaths, living
from lowwater.giveback.parts import outermost
from lowwater.giveback.receipt import Receipt, Reserve, StepDone, Survivor, given_back
from lowwater.giveback.request import Request
from lowwater.giveback.steps import LADDER, Step
from lowwater.giveback.who_holds import survivors
from lowwater.probes.levels import Levels, levels_now


def climb(request: Request) -> Receipt:
    """All steps that the level allows."""
    request.seen = watched = request.seen or living()
    first = before = levels_now()
    steps: list[StepDone] = []
    for step in LADDER:
        if request.level == "gentle" and not step.is_gentle:
            continue
        skipped = _run(step, request)
        after = levels_now()
        if skipped is not None:
            steps.append(_done(step, before, after, deaths(watched), skipped))
        watched = [one for one in watched if one.is_alive]
        before = after
    return _receipt(request, first, before, tuple(steps))


def _run(step: Step, request: Request) -> str | None:
    """A step that fails is told of; the others may still give something back."""
    try:
        return step.run(request)
    except Exception as error:  # noqa: BLE001 - the program goes on, whatever a library does
        return f"failed: {type(error).__name__}: {error}"


def _done(
    step: Step, before: Levels, after: Levels, died: dict[str, int], skipped: str
) -> StepDone:
    return StepDone(
        name=step.name,
        in_use_bytes=given_back(before.in_use_bytes, after.in_use_bytes),
        system_bytes=given_back(before.resident_bytes, after.resident_bytes),
        device_bytes=before.device_bytes - after.device_bytes,
        died=died,
        about=step.about,
        skipped=skipped,
    )


def _receipt(request: Request, first: Levels, last: Levels, steps: tuple[StepDone, ...]) -> Receipt:
    left = _survivors(request)
    return Receipt(
        name=request.name,
        steps=steps,
        survivors=left,
        freed_bytes=given_back(first.in_use_bytes, last.in_use_bytes),
        system_bytes=given_back(first.resident_bytes, last.resident_bytes),
        device_bytes=first.device_bytes - last.device_bytes,
        grown_bytes=request.grown_bytes,
        emptied=tuple(request.emptied),
        reserves=_reserves(last),
        notes=tuple(request.notes),
    )


def _reserves(last: Levels) -> tuple[Reserve, ...]:
    if not last.pool_bytes:
        return ()
    return (Reserve("TensorFlow's pool", last.pool_bytes, last.pool_in_use_bytes),)


def _survivors(request: Request) -> tuple[Survivor, ...]:
    variables = request.block.variables()[0] if request.block else None
    spared = request.block.reasons() if request.block else None
    try:
        return survivors(_expected_dead(request), variables, spared)
    except Exception as error:  # noqa: BLE001 - the objects of a program may answer anything
        request.notes.append(f"who holds what is left was not found: {type(error).__name__}")
        return tuple(Survivor(one.what, "not known") for one in _expected_dead(request))


def _expected_dead(request: Request) -> list[Watched]:
    """What was given and lives on, with its content. Parts are told by what they are part of."""
    alive = [one for one in request.alive() if not is_shell(one.reference())]
    alive = [one for one in alive if one.identity not in request.kept]
    if request.block is not None:
        # Libraries make functions and data sets of their own, and keep them.
        alive = [one for one in alive if one.kind in {MODEL, OPTIMIZER, SESSION}]
    return outermost(alive)
