"""The seam between a source of numbers and those who read it."""

from typing import Protocol

from lowwater.model.measured import NotMeasured, Reading


class Probe(Protocol):
    """One source of numbers about the running process."""

    name: str

    def read(self) -> Reading | NotMeasured:
        """Read the source now; never raise for a source that is not there."""
        ...
