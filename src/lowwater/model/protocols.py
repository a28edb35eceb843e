"""The seams: what a part must offer to take its place in the flow."""

from typing import Protocol

from lowwater.model.found import Diagnosis
from lowwater.model.measured import NotMeasured, Reading


class Probe(Protocol):
    """One source of numbers about the running process."""

    name: str

    def read(self) -> Reading | NotMeasured:
        """Read the source now; never raise for a source that is not there."""
        ...


class BoundaryListener(Protocol):
    """Is told that the program passed a boundary of a unit."""

    def boundary(self, unit_id: int, ordinal: int, *, at_end: bool = False) -> None:
        """Take note of a boundary of this unit; `at_end` of the last one of a loop."""
        ...


class Reporter(Protocol):
    """Turns a diagnosis into text."""

    def __call__(self, diagnosis: Diagnosis) -> str:
        """Render the whole diagnosis."""
        ...
