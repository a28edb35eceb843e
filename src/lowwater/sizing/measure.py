"""Which batch sizes are measured, and in which order; runs in the process that makes the steps."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

from lowwater.agent.instrumentation.uncaught import failure
from lowwater.errors import UsageError, UserError
from lowwater.isolation.local.memory_limit import memory_of
from lowwater.model.footprint import Fixed, Length, StepKind, StepPeak, StepsFound
from lowwater.model.measured import NotMeasured
from lowwater.model.out_of_memory import is_out_of_memory
from lowwater.probes.headroom import headroom
from lowwater.sizing.backends import steps_of
from lowwater.sizing.backends._steps import Steps
from lowwater.sizing.curve import curve_of
from lowwater.sizing.extension import FEWEST
from lowwater.sizing.lengths import length_of
from lowwater.sizing.peak_line import above_gradients
from lowwater.sizing.subject import Subject

# Samples of the smallest batch of three. Fewer are mostly gradients. A guess.
_FIRST = 8
# Batch sizes that are measured at most: from 8 on, doubling ends at 4,096. A guess.
_MOST = 10
# Factor to the peak. A batch twice as large that raises it by less says that batches may grow
# faster: by this factor instead of 2. Guesses.
_FLAT = 1.05
_FAST = 4
# Share of what the machine has free that a step may take: the program that is measured needs some
# too. A guess.
_PART_OF_ROOM = 0.5


@dataclass(frozen=True, slots=True)
class MeasuringPlan:
    """What is asked for. `batch_size` is measured itself if there is time for it."""

    batch_size: int | None = None
    kinds: tuple[StepKind, ...] = (StepKind.TRAIN, StepKind.EVALUATE, StepKind.PREDICT)
    # Exactly these, for a remedy that is compared with the model as it is.
    batch_sizes: tuple[int, ...] = ()
    longest_s: float = 8.0


def measured(subject: Subject, plan: MeasuringPlan, steps: Steps | None = None) -> StepsFound:
    """Make the steps, smallest batch first: here, or wherever these `steps` make them."""
    notes: list[str] = []
    steps = steps_of(subject) if steps is None else steps
    train = _sized(steps, plan, notes)
    fixed = steps.fixed()
    rest = Rest(
        tuple(one.batch_size for one in train[-FEWEST:]),
        tuple(kind for kind in plan.kinds if kind is not StepKind.TRAIN),
        None if plan.batch_sizes else train[-1],
    )
    apart = getattr(steps, "rest", None)
    seen = apart(rest) if apart is not None else rest_measured(subject, rest, steps)
    return StepsFound(
        steps.place,
        fixed,
        (*train, *seen.steps),
        (*notes, *seen.notes, *getattr(steps, "notes", ())),
        seen.length,
        getattr(steps, "device_bytes", None),
        getattr(steps, "beside_bytes", None) or beside(max(one.peak_bytes for one in train)),
        getattr(steps, "other_bytes", 0),
    )


@dataclass(frozen=True, slots=True)
class Rest:
    """What is measured when the training steps are done: other kinds of step, shorter samples."""

    batch_sizes: tuple[int, ...]
    kinds: tuple[StepKind, ...]
    largest: StepPeak | None


@dataclass(frozen=True, slots=True)
class RestFound:
    """What they have shown."""

    steps: tuple[StepPeak, ...] = ()
    notes: tuple[str, ...] = ()
    length: Length | None = None


def rest_measured(subject: Subject, rest: Rest, steps: Steps | None = None) -> RestFound:
    """Make those steps here."""
    steps = steps_of(subject) if steps is None else steps
    notes: list[str] = []
    found: list[StepPeak] = []
    for kind in rest.kinds:
        found += _others(steps, kind, rest.batch_sizes, notes)
    length = None if rest.largest is None else length_of(subject, rest.largest)
    return RestFound(tuple(found), tuple(notes), length)


def fits(subject: Subject, batch_size: int) -> StepPeak | None:
    """Make real steps with this batch; None where the memory does not suffice."""
    try:
        return steps_of(subject).measure(batch_size)
    except Exception as error:
        if is_out_of_memory(error):
            return None
        raise


def _sized(steps: Steps, plan: MeasuringPlan, notes: list[str]) -> Sequence[StepPeak]:
    """The first few batches, and as many more as it takes."""
    wanted = plan.batch_sizes or _first_sizes(plan)
    found = [_measured(steps, wanted[0])]
    # The first batch is also tracing, which is made once.
    began = time.monotonic()
    for size in wanted[1:]:
        step = _larger(steps, size, notes)
        if step is None:
            return found
        found.append(step)
    if not plan.batch_sizes:
        _add_until_sure(found, steps, plan, notes, began)
    return found


def _add_until_sure(
    found: list[StepPeak], steps: Steps, plan: MeasuringPlan, notes: list[str], began: float
) -> None:
    """Larger and larger batches, until they say what other batches take, or it takes too long."""
    while len(found) < _MOST and not curve_of(found, steps.fixed()).is_sure:
        next_size = _next_size(found, steps.fixed())
        if plan.batch_size and found[-1].batch_size < plan.batch_size < next_size:
            next_size = plan.batch_size
        is_late = time.monotonic() - began > _allowed_s(plan, steps, found)
        if is_late or not _has_room(found, next_size):
            return
        step = _larger(steps, next_size, notes)
        if step is None:
            return
        found.append(step)


def _allowed_s(plan: MeasuringPlan, steps: Steps, found: Sequence[StepPeak]) -> float:
    is_hidden = len(above_gradients(found, steps.fixed())) < FEWEST
    return plan.longest_s * (1 + is_hidden) * getattr(steps, "patience", 1)


def _measured(steps: Steps, batch_size: int) -> StepPeak:
    """The smallest batch: if the model fails with it, its own error says why."""
    try:
        return steps.measure(batch_size)
    except Exception as error:
        if not isinstance(error, UserError):
            raise failed_with(error, batch_size) from None
        raise


def _larger(steps: Steps, batch_size: int, notes: list[str]) -> StepPeak | None:
    try:
        return steps.measure(batch_size)
    except Exception as error:  # noqa: BLE001 - the model's own code may raise anything
        if not is_out_of_memory(error):
            raise failed_with(error, batch_size) from None
        notes.append(f"Batch {batch_size} ran out of memory on this machine")
        return None


def failed_with(error: Exception, batch_size: int) -> UserError:
    """The model's own error, in one line."""
    told = failure(error)
    if is_out_of_memory(error):
        return UsageError(
            f"a training step with a batch of {batch_size} runs out of memory on this machine",
            received=told.error if told else type(error).__name__,
            advice="smaller samples, or a machine with more memory",
        )
    return UsageError(
        f"the model fails in a training step with a batch of {batch_size}",
        received=told.error if told else type(error).__name__,
        advice="first make one `fit` call work, then measure",
    )


def beside(peak_bytes: int) -> int | NotMeasured:
    """Python, libraries and data: what is resident and is no tensor of the pool."""
    resident = memory_of([os.getpid()])
    return max(0, resident - peak_bytes) if resident else NotMeasured("/proc cannot be read")


def _first_sizes(plan: MeasuringPlan) -> tuple[int, ...]:
    top = plan.batch_size or 4 * _FIRST
    top = max(min(top, 4 * _FIRST), 3)
    return tuple(sorted({max(1, top // 4), max(2, top // 2), top}))


def _next_size(found: Sequence[StepPeak], fixed: Fixed) -> int:
    """Twice the last; more while all is hidden by the gradients, and less just after that."""
    last, above = found[-1], above_gradients(found, fixed)
    if not above:
        is_flat = len(found) > 1 and last.peak_bytes < _FLAT * found[-2].peak_bytes
        return (_FAST if is_flat else 2) * last.batch_size
    return round((1.5 if len(above) < FEWEST else 2) * last.batch_size)


def _has_room(found: Sequence[StepPeak], batch_size: int) -> bool:
    room = headroom()
    growth = batch_size / found[-1].batch_size
    return room is None or growth * found[-1].peak_bytes < _PART_OF_ROOM * room


def _others(steps: Steps, kind: StepKind, sizes: Sequence[int], notes: list[str]) -> list[StepPeak]:
    try:
        return [steps.measure(size, kind) for size in sizes]
    except Exception as error:  # noqa: BLE001 - the model's own code may raise anything
        told = failure(error)
        notes.append(f"{str(kind).capitalize()} was not measured: {told.error if told else error}")
        return []
