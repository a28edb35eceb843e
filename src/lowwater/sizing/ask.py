"""Puts a whole answer together: footprint, limit, largest batch, what was needed."""

from dataclasses import dataclass, replace
from typing import Final

from lowwater.errors import NotPicklable
from lowwater.model.footprint import Buffer, Remedy, StepKind, StepPeak, StepsFound, TensorLimit
from lowwater.model.measured import NotMeasured
from lowwater.sizing.answer import Answer
from lowwater.sizing.footprint import fits_in_child, found_in_child
from lowwater.sizing.found import Footprint, footprint_of
from lowwater.sizing.largest import LargestBatch, Try, largest_below
from lowwater.sizing.limits import free_here, limit_of
from lowwater.sizing.measure import MeasuringPlan, measured
from lowwater.sizing.need import need_of
from lowwater.sizing.subject import Subject
from lowwater.sizing.what_helps import Wanted, remedies_for


@dataclass(frozen=True, slots=True)
class FootprintRequest:
    """What the user asks for."""

    batch_size: int | None = None
    need_batch: int | None = None
    limit_bytes: int | None = None


def answered(
    subject: Subject, request: FootprintRequest, pipeline: tuple[Buffer, ...] = ()
) -> Answer:
    """Measure and confirm in fresh processes; what cannot be sent is measured here, in one."""
    asked = request.batch_size or subject.samples.own_batch
    found = _found(subject, MeasuringPlan(asked))
    footprint = footprint_of(found, asked or max(one.batch_size for one in found.of(_TRAIN)))
    limit = limit_of(request.limit_bytes, found)
    attempt = None if isinstance(limit, NotMeasured) else _attempt(subject, limit, found)
    wanted = request.need_batch
    largest = _largest(footprint, limit, attempt, wanted)
    need = None if wanted is None else need_of(wanted, largest, footprint)
    return Answer(
        footprint=footprint,
        limit=limit,
        largest=largest,
        need=need,
        pipeline=pipeline,
        remedies=_remedies(subject, need.batch_size if need else footprint.batch_size, largest),
        beside_bytes=found.beside_bytes,
        model=str(getattr(subject.model, "name", "")),
    )


_TRAIN = StepKind.TRAIN
_IN_ONE: Final = (
    "The model cannot be sent to another process, so all batch sizes were measured in one: "
    "peaks may be about 10 % off, and no batch is confirmed"
)


def _found(subject: Subject, plan: MeasuringPlan) -> StepsFound:
    try:
        return found_in_child(subject, plan)
    except NotPicklable:
        found = measured(subject, plan)
        return replace(found, notes=(*found.notes, _IN_ONE))


def _attempt(subject: Subject, limit: TensorLimit, found: StepsFound) -> Try:
    def attempt(batch_size: int) -> StepPeak | None:
        return fits_in_child(subject, batch_size, limit.limit_bytes - found.other_bytes)

    return attempt


def _largest(
    footprint: Footprint, limit: TensorLimit | NotMeasured, attempt: Try | None, wanted: int | None
) -> LargestBatch | NotMeasured:
    if isinstance(limit, NotMeasured):
        return NotMeasured(f"there is no limit: {limit.why}")
    try:
        return largest_below(footprint, limit, attempt, free_here(), wanted)
    except NotPicklable:
        return largest_below(footprint, limit, None, free_here())


def _remedies(
    subject: Subject, batch_size: int, largest: LargestBatch | NotMeasured
) -> tuple[Remedy, ...]:
    """Only where the batch does not fit: each of them takes a process and several steps."""
    if isinstance(largest, NotMeasured) or batch_size <= largest:
        return ()
    wanted = Wanted(batch_size, int(largest), largest.limit_bytes, free_here())
    return remedies_for(subject, wanted)
