"""`lowwater.footprint()` and `lowwater.largest_batch()`: steps are measured in fresh processes."""

from dataclasses import replace
from typing import Any

from lowwater.errors import ChildDied, ChildTimedOut, NotPicklable, UsageError
from lowwater.isolation.call import packed
from lowwater.model.footprint import StepPeak, StepsFound
from lowwater.model.measured import NotMeasured
from lowwater.model.out_of_memory import is_out_of_memory
from lowwater.sizing.apart import StepsApart
from lowwater.sizing.backends import has_pool, variables_of
from lowwater.sizing.found import Footprint, footprint_of
from lowwater.sizing.fresh_child import in_fresh_child
from lowwater.sizing.largest import LargestBatch, largest_below
from lowwater.sizing.limits import free_here, given_limit, limit_of
from lowwater.sizing.measure import MeasuringPlan, fits, measured
from lowwater.sizing.samples import samples_of
from lowwater.sizing.step_function import (
    StepFunction,
    is_step_function,
    options_of,
    subject_of_step,
)
from lowwater.sizing.subject import Subject, backend_of, check_batch_size, check_compiled

# ruff: noqa: ANN401 - models and data are the user's


def footprint(  # noqa: PLR0913 - those of `fit`
    model: Any,
    x: Any = None,
    y: Any = None,
    *,
    batch_size: int = 64,
    sample_weight: Any = None,
    class_weight: Any = None,
) -> Footprint:
    """Measure the peak memory of one training step, by batch size.

        print(lowwater.footprint(model, x, y, batch_size=64))

    The steps are made in a fresh process with a copy of the model, so yours is not touched.
    Data may be anything that `fit` takes; the first batches of a generator are consumed.

    For a training loop of your own, pass the function that makes one step, and one batch, a tuple
    if it takes several arguments:

        print(lowwater.footprint(train_step, (x[:64], y[:64])))

    The first dimension of all arrays of the batch counts its samples.
    """
    subject = subject_of(model, x, y, sample_weight, class_weight)
    wanted = check_batch_size(batch_size)
    return footprint_of(found_in_child(subject, plan_of(subject, wanted)), wanted)


def largest_batch(  # noqa: PLR0913 - those of `fit`
    model: Any,
    x: Any = None,
    y: Any = None,
    *,
    limit: str | float | None = None,
    sample_weight: Any = None,
    class_weight: Any = None,
) -> LargestBatch:
    """Find the largest batch that fits into `limit`, and confirm it with real training steps.

        model.fit(x, y, batch_size=lowwater.largest_batch(model, x, y, limit="8 GiB"))

    The limit is for tensors, like the memory of a device. Without a limit, it is what the device
    has, or what this machine has free.
    """
    given = given_limit(limit)
    subject = subject_of(model, x, y, sample_weight, class_weight)
    found: StepsFound = found_in_child(subject, MeasuringPlan(None, kinds=()))
    below = limit_of(given, found)
    if isinstance(below, NotMeasured):
        raise UsageError("there is no limit", received=below.why, advice='limit="8 GiB"')
    result = footprint_of(found, max(one.batch_size for one in found.steps))

    def attempt(batch_size: int) -> StepPeak | None:
        return fits_in_child(subject, batch_size, below.limit_bytes - found.other_bytes)

    return largest_below(result, below, attempt, free_here())


def plan_of(subject: Subject, batch_size: int | None) -> MeasuringPlan:
    """All kinds of steps; a function of the user's own makes one kind."""
    plan = MeasuringPlan(batch_size)
    return replace(plan, kinds=()) if isinstance(subject.model, StepFunction) else plan


def subject_of(model: Any, x: Any, y: Any, sample_weight: Any, class_weight: Any) -> Subject:
    """The model and samples of its data; what cannot be trained is refused."""
    if is_step_function(model):
        options_of({"y": y, "sample_weight": sample_weight, "class_weight": class_weight})
        return subject_of_step(model, x)
    backend = backend_of(model)
    check_compiled(model)
    options = {} if class_weight is None else {"class_weight": class_weight}
    return Subject(model, samples_of(x, y, sample_weight), backend, options)


def found_in_child(subject: Subject, plan: MeasuringPlan) -> StepsFound:
    """Measure in fresh children: where tensors come from a pool, one for each batch size."""
    try:
        if has_pool(subject.backend):
            return measured(subject, plan, StepsApart(subject))
        found: StepsFound = in_fresh_child(
            measured, subject, plan, variables=variables_of(subject.backend, None)
        )
    except NotPicklable:
        if isinstance(subject.model, StepFunction):
            packed(subject.model.function, (), {})  # names what of it cannot be sent
        raise
    return found


def fits_in_child(subject: Subject, batch_size: int, limit_bytes: int) -> StepPeak | None:
    """Make real steps under this very limit; None where they do not fit."""
    variables = variables_of(subject.backend, limit_bytes)
    try:
        found: StepPeak | None = in_fresh_child(
            fits, subject, batch_size, variables=variables, device_bytes=limit_bytes
        )
    except ChildTimedOut:
        raise
    except ChildDied:  # some parts of frameworks end the process where memory runs out
        return None
    except Exception as error:
        if is_out_of_memory(error):  # the model itself did not fit
            return None
        raise
    # Not every framework can be held to a limit: there, the peak itself says whether it fits.
    return found if found is None or found.peak_bytes <= limit_bytes else None
