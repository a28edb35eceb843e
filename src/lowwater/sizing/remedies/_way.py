"""What one way to need less memory is."""

from dataclasses import dataclass
from typing import ClassVar

from lowwater.sizing.subject import Subject


class DoesNotApply(Exception):
    """The reason why a way changes nothing in this model; one line."""


@dataclass(frozen=True)
class RemedyWay:
    """Changes one thing, so that a step needs less memory.

    It is called with the subject in the process that makes the steps, where the model is a copy
    and may be changed freely; weights stay. The copy has made no step yet, so its optimizer may
    have no state. `how` is what a user types for the same, and
    `steps_per_batch` by how many steps the wanted batch is divided.
    """

    name: ClassVar[str]
    how: ClassVar[str]
    steps_per_batch: int = 1

    def changes(self, place: str) -> str:
        """What it changes in the results of a training at this place."""
        raise NotImplementedError

    def for_batch(self, batch_size: int, fits: int | None) -> "RemedyWay":  # noqa: ARG002
        """The same, as this batch needs it; `fits` is the largest that fits without it."""
        return self

    def __call__(self, subject: Subject) -> Subject:
        """The changed subject, or `DoesNotApply`."""
        raise NotImplementedError
