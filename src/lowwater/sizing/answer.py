"""All that `lowwater footprint` has to tell of one model."""

from dataclasses import dataclass

from lowwater.model.footprint import NOT_ASKED, Buffer, Remedy, Story, TensorLimit
from lowwater.model.measured import NotMeasured
from lowwater.sizing.found import Footprint
from lowwater.sizing.largest import LargestBatch


@dataclass(frozen=True, slots=True)
class BatchNeed:
    """Whether the batch that was asked for fits; None where it cannot be said."""

    batch_size: int
    fits: bool | None
    because: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A footprint, the limit, and the largest batch below it."""

    footprint: Footprint
    limit: TensorLimit | NotMeasured
    largest: LargestBatch | NotMeasured
    need: BatchNeed | None = None
    pipeline: tuple[Buffer, ...] = ()
    # Of `Remedy.name`, best first; filled where a larger batch was asked for.
    remedies: tuple[Remedy, ...] = ()
    beside_bytes: int | NotMeasured = NOT_ASKED
    story: Story | None = None
    model: str = ""
