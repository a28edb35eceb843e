"""What would let a larger batch fit: every way is tried on a copy of the model, and measured."""

from dataclasses import dataclass, replace

from lowwater.errors import ChildDied, NotPicklable
from lowwater.model.footprint import Remedy, StepPeak
from lowwater.model.out_of_memory import line_of
from lowwater.model.units import format_bytes
from lowwater.sizing.backends import variables_of
from lowwater.sizing.fresh_child import in_fresh_child
from lowwater.sizing.largest import SLACK
from lowwater.sizing.measure import fits
from lowwater.sizing.remedies import WAYS, DoesNotApply, RemedyWay
from lowwater.sizing.subject import Subject

# Share of the peak by which the same step differs from process to process: less is no saving.
_NOISE = 0.05
_AS_IT_IS = "as it is"
# Letters of an error in a table.
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Wanted:
    """The batch that does not fit, the largest that does, and how much memory there is."""

    batch_size: int
    fits: int | None
    limit_bytes: int
    # What this machine could give to a step now; None where it cannot be read.
    free_bytes: int | None = None

    @property
    def ceiling_bytes(self) -> int | None:
        """No step may take more, so that trying does not harm this machine."""
        return None if self.free_bytes is None else round(self.free_bytes / SLACK)


def remedies_for(
    subject: Subject, wanted: Wanted, ways: tuple[RemedyWay, ...] = WAYS
) -> tuple[Remedy, ...]:
    """One line for each, the model as it is first; what fits with the least changes comes next."""
    plain = _tried(subject, wanted, None)
    found = [_tried(subject, wanted, way.for_batch(wanted.batch_size, wanted.fits)) for way in ways]
    judged = [_judged(one, plain.peak_bytes, wanted.limit_bytes) for one in found]
    return (_judged(plain, None, wanted.limit_bytes), *sorted(judged, key=_rank))


def _rank(one: Remedy) -> int:
    if one.fits:
        return 0
    if one.peak_bytes is None:
        return 3
    return 2 if one.saves_nothing else 1


def _tried(subject: Subject, wanted: Wanted, way: RemedyWay | None) -> Remedy:
    """Its peak and the time of a whole batch; one that fails says why, and the others go on."""
    name = _AS_IT_IS if way is None else way.name
    parts = 1 if way is None else way.steps_per_batch
    if parts > 1:
        name = f"{name}, {parts} x {wanted.batch_size // parts}"
    row = Remedy(name, None, None, "" if way is None else way.changes("CPU:0"))
    try:
        step = _step(subject, wanted, way, wanted.batch_size // parts)
    except DoesNotApply as why:
        return replace(row, because=f"does not apply: {why}")
    except NotPicklable:
        return replace(row, because="not tried: the model cannot be sent to another process")
    except ChildDied:
        step = None
    except Exception as error:  # noqa: BLE001 - the model's own code may raise anything
        return replace(row, because=f"fails: {line_of(error)[:_LONGEST]}")
    if step is None:
        return replace(row, because=_too_much(wanted))
    return replace(
        row, peak_bytes=step[0].peak_bytes, step_s=parts * step[0].step_s, changes=step[1]
    )


def _step(
    subject: Subject, wanted: Wanted, way: RemedyWay | None, batch_size: int
) -> tuple[StepPeak, str] | None:
    variables = variables_of(subject.backend, wanted.ceiling_bytes)
    told: tuple[StepPeak, str] | None = in_fresh_child(
        changed, subject, batch_size, way, variables=variables
    )
    return told


def changed(
    subject: Subject, batch_size: int, way: RemedyWay | None
) -> tuple[StepPeak, str] | None:
    """In the child: steps with the change, and what it changes there; None if memory runs out."""
    from lowwater.sizing.backends import steps_of

    place = steps_of(subject).place
    step = fits(subject if way is None else way(subject), batch_size)
    return None if step is None else (step, "" if way is None else way.changes(place))


def _judged(one: Remedy, plain_bytes: int | None, limit_bytes: int) -> Remedy:
    if one.peak_bytes is None:
        return one
    fits_limit = one.peak_bytes <= limit_bytes
    nothing = plain_bytes is not None and one.peak_bytes > (1 - _NOISE) * plain_bytes
    told = "fits" if fits_limit else "does not fit"
    if nothing:
        told = _against(one.peak_bytes, plain_bytes or 1)
    return replace(one, fits=fits_limit and not nothing, saves_nothing=nothing, because=told)


def _against(peak_bytes: int, plain_bytes: int) -> str:
    if peak_bytes > (1 + _NOISE) * plain_bytes:
        return f"takes {format_bytes(peak_bytes - plain_bytes)} more here"
    return "saves nothing here"


def _too_much(wanted: Wanted) -> str:
    ceiling = wanted.ceiling_bytes
    if ceiling is not None and ceiling > wanted.limit_bytes:
        return f"does not fit: needs more than {format_bytes(ceiling)}"
    return "not measured: needs more than this machine has free"
