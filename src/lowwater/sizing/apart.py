"""Every batch size in a fresh process of its own.

A pool gives out whole chunks, of up to twice the size that was asked for. How much is lost in this
way follows from what the pool has given out before: the same step peaked 15 % lower in a pool that
smaller batches had used. In fresh pools the peaks of four models repeated to 0.1 to 5 %.
"""

from dataclasses import dataclass

from lowwater.model.footprint import NOT_ASKED, Fixed, StepKind, StepPeak
from lowwater.model.measured import NotMeasured
from lowwater.sizing.backends import steps_of, variables_of
from lowwater.sizing.fresh_child import in_fresh_child
from lowwater.sizing.measure import Rest, RestFound, beside, rest_measured
from lowwater.sizing.subject import Subject


@dataclass(frozen=True, slots=True)
class Glimpse:
    """What one batch size has shown, and what the process said of itself."""

    step: StepPeak
    place: str
    fixed: Fixed
    device_bytes: int | None
    other_bytes: int
    beside_bytes: int | NotMeasured


class StepsApart:
    """Steps as `measure` wants them, each batch size in a fresh child."""

    place = ""

    def __init__(self, subject: Subject) -> None:
        """Nothing is sent before the first batch."""
        self._subject = subject
        self._variables = variables_of(subject.backend, None)
        self._fixed = Fixed(0, 0, 0)
        self.device_bytes: int | None = None
        self.other_bytes = 0
        self.beside_bytes: int | NotMeasured = NOT_ASKED

    def fixed(self) -> Fixed:
        """As the latest child has seen them."""
        return self._fixed

    def measure(self, batch_size: int, kind: StepKind = StepKind.TRAIN) -> StepPeak:
        """Fork, make the steps, end."""
        seen: Glimpse = in_fresh_child(
            glimpsed, self._subject, batch_size, kind, variables=self._variables
        )
        self.place, self._fixed = seen.place, seen.fixed
        self.device_bytes, self.other_bytes = seen.device_bytes, seen.other_bytes
        self.beside_bytes = seen.beside_bytes
        return seen.step

    def rest(self, wanted: Rest) -> RestFound:
        """All of it in one child: these peaks matter less, and a process takes seconds."""
        if not wanted.kinds:
            return RestFound()
        found: RestFound = in_fresh_child(
            rest_measured, self._subject, wanted, variables=self._variables
        )
        return found


def glimpsed(subject: Subject, batch_size: int, kind: StepKind) -> Glimpse:
    """In the child: one batch size."""
    steps = steps_of(subject)
    step = steps.measure(batch_size, kind)
    return Glimpse(
        step,
        steps.place,
        steps.fixed(),
        getattr(steps, "device_bytes", None),
        getattr(steps, "other_bytes", 0),
        beside(step.peak_bytes),
    )
