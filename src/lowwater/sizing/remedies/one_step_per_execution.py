"""`steps_per_execution=1`: one batch at a time."""

from dataclasses import dataclass, replace
from typing import Any

from lowwater.sizing.remedies._model import forget_traces
from lowwater.sizing.remedies._way import DoesNotApply, RemedyWay
from lowwater.sizing.subject import Subject


@dataclass(frozen=True)
class OneStepPerExecution(RemedyWay):
    """Several steps in one call save time, never memory."""

    name = "steps_per_execution=1"
    how = "model.compile(steps_per_execution=1)"

    def changes(self, place: str) -> str:  # noqa: ARG002
        """The same steps."""
        return "only speed: Python starts each step"

    def __call__(self, subject: Subject) -> Subject:
        """Back to the default."""
        model: Any = subject.model
        if getattr(model, "steps_per_execution", 1) == 1:
            raise DoesNotApply("it is already 1, and more would not save memory")
        model.steps_per_execution = 1
        forget_traces(model)
        return replace(subject, model=model)
