"""What one training step takes: measured at small batches, and what that says of larger ones."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from lowwater.model.measured import NotMeasured
from lowwater.model.step_trace import StepTrace
from lowwater.model.units import format_bytes, format_interval

NOT_ASKED: Final = NotMeasured("not asked")


class StepKind(StrEnum):
    """What a model can do with a batch."""

    TRAIN = "training"
    EVALUATE = "evaluation"
    PREDICT = "inference"


@dataclass(frozen=True, slots=True)
class StepPeak:
    """What several steps with one batch size took, weights and optimizer included.

    One step's peak is a matter of luck: frameworks free gradients in the order in which they
    happen to be computed. So the highest of several counts. `traces` are some of these steps,
    allocation by allocation, where that could be watched.
    """

    batch_size: int
    peaks_bytes: tuple[int, ...]
    step_s: float
    kind: StepKind = StepKind.TRAIN
    traces: tuple[StepTrace, ...] = field(default=(), repr=False)

    @property
    def peak_bytes(self) -> int:
        """The highest of all steps."""
        return max(self.peaks_bytes)

    @property
    def needed_bytes(self) -> int | None:
        """The most that tensors asked for in the steps that were watched: a pool gives out more."""
        return max((trace.needed_bytes for trace in self.traces), default=None)

    @property
    def lowest_bytes(self) -> int:
        """The peak of the step that took least."""
        return min(self.peaks_bytes)


@dataclass(frozen=True, slots=True)
class Fixed:
    """What is there whatever the batch size; gradients count as all alive at once."""

    weights_bytes: int
    optimizer_bytes: int
    gradients_bytes: int
    # Inputs, targets and sample weights of one sample.
    sample_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Estimate:
    """A peak that was measured or extended; where there is none, the reason."""

    batch_size: int
    peak_bytes: int | None
    interval_bytes: tuple[int, int] | None
    is_measured: bool
    because: str

    def __str__(self) -> str:
        if self.peak_bytes is None or self.interval_bytes is None:
            return self.because
        told = format_bytes(self.peak_bytes)
        if self.is_measured:
            return f"{told} (measured)"
        return f"{told} ({format_interval(*self.interval_bytes, self.peak_bytes)})"


@dataclass(frozen=True, slots=True)
class PeakPart:
    """A share of the peak; `is_at_most` where it is an upper bound."""

    name: str
    size_bytes: int
    is_at_most: bool = False


@dataclass(frozen=True, slots=True)
class Length:
    """A variable dimension of the inputs, as it was measured, and half of it beside.

    `half_peak_bytes` is None where shorter samples could not be made.
    """

    length: int
    batch_size: int
    peak_bytes: int
    half_peak_bytes: int | None

    @property
    def times(self) -> float | None:
        """By what the peak grows when the length doubles."""
        return None if not self.half_peak_bytes else self.peak_bytes / self.half_peak_bytes

    @property
    def told(self) -> str:
        """A sentence for reports."""
        head = f"Measured with samples of length {self.length}, which may vary"
        if self.times is None:
            return f"{head}; longer ones take more."
        return (
            f"{head}; at batch {self.batch_size}, twice the length takes {self.times:.1f} times "
            "the peak."
        )


@dataclass(frozen=True, slots=True)
class StepsFound:
    """All that the steps of one model have shown, before anything is made of it."""

    place: str
    fixed: Fixed
    steps: tuple[StepPeak, ...]
    # Why the other kinds of step, or larger batches, have no figures.
    notes: tuple[str, ...] = ()
    length: Length | None = None
    # What the device has for tensors; None on the host.
    device_bytes: int | None = None
    # What the process takes beside the tensors, on the host.
    beside_bytes: int | NotMeasured = NOT_ASKED
    # What the program holds on the place itself, beside the model.
    other_bytes: int = 0

    def of(self, kind: StepKind) -> tuple[StepPeak, ...]:
        """The steps of one kind, smallest batch first."""
        found = [step for step in self.steps if step.kind is kind]
        return tuple(sorted(found, key=lambda step: step.batch_size))


@dataclass(frozen=True, slots=True)
class TensorLimit:
    """So many bytes for tensors, and where the number comes from."""

    limit_bytes: int
    because: str
    is_given: bool


@dataclass(frozen=True, slots=True)
class Buffer:
    """What a stage of the input pipeline keeps in host memory once it is full."""

    stage: str
    size_bytes: int | NotMeasured


@dataclass(frozen=True, slots=True)
class Remedy:
    """What would let a larger batch fit, as it was measured; without a peak, the reason."""

    name: str
    peak_bytes: int | None
    # Of the whole batch, however many steps it is made in.
    step_s: float | None
    # What it changes in the results.
    changes: str
    # "fits", "does not fit", "saves nothing here", or why it was not measured.
    because: str = ""
    fits: bool | None = None
    saves_nothing: bool = False


@dataclass(frozen=True, slots=True)
class Story:
    """What the script did before its first `fit`: it was run that far."""

    call: str
    where: str
    elapsed_s: float
    files: tuple[str, ...] = ()
