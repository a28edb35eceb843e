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
    happen to be computed. So the highest of several counts. `needed_each_bytes` is what tensors
    asked for, of the steps of which that is known: a pool gives out larger pieces. `traces` are
    some of these steps, allocation by allocation.
    """

    batch_size: int
    peaks_bytes: tuple[int, ...]
    step_s: float
    kind: StepKind = StepKind.TRAIN
    needed_each_bytes: tuple[int, ...] = ()
    traces: tuple[StepTrace, ...] = field(default=(), repr=False)

    @property
    def peak_bytes(self) -> int:
        """The highest of all steps."""
        return max(self.peaks_bytes)

    @property
    def needed_bytes(self) -> int | None:
        """The most that tensors asked for; it may have been more in a step that was not seen."""
        return max(self.needed_each_bytes, default=None)

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
class NeedLine:
    """What tensors need by batch size, as a straight line with the noise around it.

    `error` is the standard deviation of the points, as a share of the largest; `spread` and
    `mean_batch` say how firmly they hold the slope, and so how sure a point far away is.
    """

    intercept_bytes: float
    bytes_per_sample: float
    error: float
    points: int
    mean_batch: float
    spread: float
    from_batch: int
    to_batch: int

    def needed_bytes(self, batch_size: float) -> float:
        """What tensors ask for at this batch size."""
        return self.intercept_bytes + self.bytes_per_sample * batch_size

    def batch_that_needs(self, limit_bytes: float) -> int:
        """The largest batch that needs no more; the line has to rise."""
        return int((limit_bytes - self.intercept_bytes) / self.bytes_per_sample)

    def doubt_bytes(self, batch_size: float) -> float:
        """By how much the line itself may lie above or below."""
        distance = (batch_size - self.mean_batch) ** 2 / self.spread if self.spread else 0.0
        lever = (1 / self.points + distance) ** 0.5
        return float(2 * self.error * abs(self.needed_bytes(self.to_batch)) * lever)

    def half_width_bytes(self, batch_size: float, spread: float = 0.0) -> float:
        """By how much a step may lie above or below, if steps differ by this share at least."""
        own = 2 * max(self.error, spread) * abs(self.needed_bytes(batch_size))
        return float((self.doubt_bytes(batch_size) ** 2 + own**2) ** 0.5)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A peak that was measured, or that the line gives; where there is none, the reason."""

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
