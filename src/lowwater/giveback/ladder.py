"""Climbs the ladder, measures around each step, and writes the receipt."""

from dataclasses import replace

from lowwater.giveback.device_receipts import compared, devices_now
from lowwater.giveback.holding import reached_from
from lowwater.giveback.hollow import is_shell
from lowwater.giveback.living import (
    LAYER,
    MODEL,
    OPTIMIZER,
    SESSION,
    VARIABLE,
    Watched,
    deaths,
    living,
)
from lowwater.giveback.parts import outermost
from lowwater.giveback.receipt import (
    Receipt,
    Reserve,
    StepDone,
    Survivor,
    given_back,
    parts_given_back,
)
from lowwater.giveback.request import ReleaseRequest
from lowwater.giveback.steps import LADDER, ReleaseStep
from lowwater.giveback.steps.keras_state import settings
from lowwater.giveback.unread import held_by_unread_variables, reads_now
from lowwater.giveback.who_holds import Circumstances, survivors
from lowwater.probes.levels import Levels, levels_now

_HOLDING_WEIGHTS = frozenset((MODEL, OPTIMIZER, LAYER, VARIABLE))
_TOLD = _HOLDING_WEIGHTS | {SESSION}


def climb(request: ReleaseRequest) -> Receipt:
    """All steps that the level allows."""
    request.seen = watched = request.seen or living()
    first = before = levels_now()
    devices = devices_now(first)
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
    receipt = _receipt(request, first, before, tuple(steps))
    return replace(receipt, devices=compared(devices, devices_now(before)))


def _run(step: ReleaseStep, request: ReleaseRequest) -> str | None:
    """A step that fails is told of; the others may still give something back."""
    try:
        return step.run(request)
    except Exception as error:  # noqa: BLE001 - the program goes on, whatever a library does
        return f"failed: {type(error).__name__}: {error}"


def _done(
    step: ReleaseStep, before: Levels, after: Levels, died: dict[str, int], skipped: str
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


def _receipt(
    request: ReleaseRequest, first: Levels, last: Levels, steps: tuple[StepDone, ...]
) -> Receipt:
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
        freed_parts=parts_given_back(first.in_use_parts, last.in_use_parts),
        looked_for=request.looked_for,
    )


def _reserves(last: Levels) -> tuple[Reserve, ...]:
    if not last.pool_bytes:
        return ()
    return (Reserve("TensorFlow's pool on the host", last.pool_bytes, last.pool_in_use_bytes),)


def _survivors(request: ReleaseRequest) -> tuple[Survivor, ...]:
    expected = _expected_dead(request)
    try:
        known = _circumstances(request) if expected else Circumstances()
        return survivors(expected, known, request.notes)
    except Exception as error:  # noqa: BLE001 - the objects of a program may answer anything
        request.notes.append(f"the holders of what remains were not found: {type(error).__name__}")
        return tuple(Survivor(one.what, "unknown") for one in outermost(expected))


def _circumstances(request: ReleaseRequest) -> Circumstances:
    if request.block is not None:
        return Circumstances(request.block.variables()[0], request.block.reasons())
    was_asked_for = bool(request.given)
    spared = {} if was_asked_for else reads_now()
    return Circumstances({}, spared, held_by_unread_variables(), was_asked_for)


def _expected_dead(request: ReleaseRequest) -> list[Watched]:
    """What was given, or made in the block, and lives on with its content; else all that does."""
    if request.block is not None:
        # Libraries make functions and data sets of their own, and keep them.
        expected = [one for one in request.given if one.kind in _TOLD]
    elif request.given:
        expected = [*request.given, *request.parts]
    else:
        expected = [one for one in request.seen if one.kind in _HOLDING_WEIGHTS]
    alive = [one for one in expected if one.is_alive and not is_shell(one.reference())]
    spared = request.kept | (reached_from(settings().values()) if alive else set())
    return [one for one in alive if one.identity not in spared]
