"""Which batch sizes are measured, and in which order; runs in the process that makes the steps."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lowwater.model.footprint import Fixed, Found, StepKind, StepPeak
from lowwater.probes.headroom import headroom
from lowwater.sizing.backends import steps_of
from lowwater.sizing.curve import fit
from lowwater.sizing.subject import Subject

_FIRST = 8
_FEWEST = 3
_MOST = 8
# A step may take at most this part of what the machine has free.
_PART_OF_ROOM = 0.5
Change = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked for. `batch_size` is measured itself if there is time for it."""

    batch_size: int | None = None
    kinds: tuple[StepKind, ...] = (StepKind.TRAIN, StepKind.EVALUATE, StepKind.PREDICT)
    # Exactly these, for a remedy that is compared with the model as it is.
    batch_sizes: tuple[int, ...] = ()
    longest_s: float = 15.0


def measured(subject: Subject, plan: Plan, change: Change | None = None) -> Found:
    """Make the steps, smallest batch first; `change` gives the subject that is measured."""
    if change is not None:
        subject = change(subject)
    steps = steps_of(subject)
    train = [*_sized(steps, plan)]
    fixed = steps.fixed()
    notes: list[str] = []
    others: list[StepPeak] = []
    sizes = [one.batch_size for one in train]
    for kind in plan.kinds:
        if kind is not StepKind.TRAIN:
            others += _others(steps, kind, sizes, notes)
    return Found(steps.place, fixed, (*train, *others), tuple(notes))


def _sized(steps: Any, plan: Plan) -> Sequence[StepPeak]:
    """Doubled batches, until those that depend on the batch are what counts."""
    if plan.batch_sizes:
        return [steps.measure(size) for size in plan.batch_sizes]
    began, found = time.monotonic(), [steps.measure(size) for size in _first_sizes(plan)]
    while len(found) < _MOST and not _tells(found, steps.fixed()):
        next_size = 2 * found[-1].batch_size
        is_late = time.monotonic() - began > plan.longest_s
        if is_late or not _has_room(found, next_size):
            break
        found.append(steps.measure(next_size))
    return found


def _first_sizes(plan: Plan) -> tuple[int, ...]:
    top = plan.batch_size or 4 * _FIRST
    top = max(min(top, 4 * _FIRST), 3)
    return tuple(sorted({max(1, top // 4), max(2, top // 2), top}))


def _tells(found: Sequence[StepPeak], fixed: Fixed) -> bool:
    """Whether the line is one, and is that of the activations, not that of the gradients.

    A step has two tops: where all activations are there, and where all gradients are. With small
    batches the second is the higher one, and hides how the first grows.
    """
    curve = fit(found, fixed)
    if curve.line is None:
        return False
    last = found[-1]
    varying = last.peak_bytes - fixed.weights_bytes - fixed.optimizer_bytes
    return varying > 2 * fixed.gradients_bytes


def _has_room(found: Sequence[StepPeak], batch_size: int) -> bool:
    room = headroom()
    growth = batch_size / found[-1].batch_size
    return room is None or growth * found[-1].peak_bytes < _PART_OF_ROOM * room


def _others(steps: Any, kind: StepKind, sizes: Sequence[int], notes: list[str]) -> list[StepPeak]:
    try:
        return [steps.measure(size, kind) for size in sizes[-_FEWEST:]]
    except Exception as error:  # noqa: BLE001 - the model's own code may raise anything
        first = str(error).strip().splitlines()
        notes.append(f"{kind} was not measured: {type(error).__name__}: {(first or [''])[0][:120]}")
        return []
