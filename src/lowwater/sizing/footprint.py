"""`lowwater.footprint()`: what the steps of a model take, measured in a fresh process."""

from typing import Any

from lowwater.model.footprint import StepKind
from lowwater.sizing.backends import variables_of
from lowwater.sizing.found import Footprint, footprint_of
from lowwater.sizing.fresh_child import in_fresh_child
from lowwater.sizing.measure import Change, Plan, measured
from lowwater.sizing.samples import samples_of
from lowwater.sizing.subject import Subject, backend_of

# ruff: noqa: ANN401 - models and data are the user's


def footprint(
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
    """
    subject = Subject(
        model,
        samples_of(x, y, sample_weight),
        backend_of(model),
        {} if class_weight is None else {"class_weight": class_weight},
    )
    return footprint_of(found_in_child(subject, Plan(batch_size)), batch_size)


def found_in_child(
    subject: Subject,
    plan: Plan,
    change: Change | None = None,
    limit_bytes: int | None = None,
) -> Any:
    """Measure in a fresh child: as it is, or with a `change` of the subject made there first."""
    variables = variables_of(subject.backend, limit_bytes)
    return in_fresh_child(
        measured, subject, plan, change, variables=variables, device_bytes=limit_bytes
    )


__all__ = ["StepKind", "footprint", "found_in_child"]
