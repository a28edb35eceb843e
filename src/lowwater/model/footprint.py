"""What one training step takes: measured at small batches, and what that says of larger ones."""

from dataclasses import dataclass
from enum import StrEnum


class StepKind(StrEnum):
    """What a model can do with a batch."""

    TRAIN = "training"
    EVALUATE = "evaluation"
    PREDICT = "inference"


@dataclass(frozen=True, slots=True)
class StepPeak:
    """What several steps with one batch size took, weights and optimizer included.

    One step's peak is a matter of luck: frameworks free gradients in the order in which they
    happen to be computed. So the highest of several counts.
    """

    batch_size: int
    peaks_bytes: tuple[int, ...]
    step_s: float

    @property
    def peak_bytes(self) -> int:
        """The highest of all steps."""
        return max(self.peaks_bytes)


@dataclass(frozen=True, slots=True)
class Fixed:
    """What is there whatever the batch size; gradients count as all alive at once."""

    weights_bytes: int
    optimizer_bytes: int
    gradients_bytes: int
