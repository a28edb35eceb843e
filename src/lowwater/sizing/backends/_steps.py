"""What every framework answers for one model and its data."""

from typing import Protocol

from lowwater.model.footprint import Fixed, StepKind, StepPeak


class Steps(Protocol):
    """Makes real steps of one model, in a process that exists only for this.

    `place` is where the tensors are, such as `CPU:0`.
    """

    place: str

    def fixed(self) -> Fixed:
        """Weights, optimizer state and gradients, in bytes, once a step was made."""
        ...

    def measure(self, batch_size: int, kind: StepKind = StepKind.TRAIN) -> StepPeak:
        """Make several steps with this batch size, and tell the peak of each.

        The data are the user's own first samples, repeated where there are too few.
        """
        ...
