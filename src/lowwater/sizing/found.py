"""`Footprint`: what a model's steps take, as the user reads it."""

from dataclasses import dataclass, field

from lowwater.model.footprint import (
    Estimate,
    Fixed,
    Length,
    PeakPart,
    StepKind,
    StepPeak,
    StepsFound,
)
from lowwater.sizing.curve import Curve, curve_of
from lowwater.sizing.parts import parts_of


@dataclass(frozen=True, slots=True)
class Footprint:
    """The peak of one training step, by batch size, and what it is made of.

    `batch_size` is the one that was asked for; `peak_bytes`, `interval_bytes` and `parts` are of
    it. `at(n)` answers for other sizes.
    """

    batch_size: int
    place: str
    fixed: Fixed
    curves: dict[StepKind, Curve]
    notes: tuple[str, ...] = field(default=())
    # Of a model that takes samples of any length.
    length: Length | None = None

    @property
    def measured(self) -> tuple[StepPeak, ...]:
        """Every training batch that real steps were made with."""
        return self.curves[StepKind.TRAIN].points

    @property
    def peak_bytes(self) -> int | None:
        """Of a training step with `batch_size`; None where it cannot be said."""
        return self.at(self.batch_size).peak_bytes

    @property
    def interval_bytes(self) -> tuple[int, int] | None:
        """Between these the peak lies."""
        return self.at(self.batch_size).interval_bytes

    @property
    def parts(self) -> tuple[PeakPart, ...]:
        """What the peak of a training step with `batch_size` is made of; they add up to it."""
        return self.parts_at(self.batch_size)

    def parts_at(self, batch_size: int) -> tuple[PeakPart, ...]:
        """What the peak of a training step with another batch is made of."""
        curve, peak = self.curves[StepKind.TRAIN], self.at(batch_size).peak_bytes
        if peak is None:
            return ()
        growing, lost = curve.growing_bytes(batch_size), curve.lost_bytes(batch_size)
        return parts_of(peak, batch_size, self.fixed, growing, lost)

    def at(self, batch_size: int, kind: StepKind | str = StepKind.TRAIN) -> Estimate:
        """The peak with another batch size, or of another kind of step."""
        curve = self.curves.get(StepKind(kind))
        if curve is None:
            told = f"{StepKind(kind)} was not measured"
            return Estimate(batch_size, None, None, is_measured=False, because=told)
        return curve.at(batch_size)

    def __str__(self) -> str:
        from lowwater.sizing.table import drawn

        return drawn(self)


def footprint_of(found: StepsFound, batch_size: int) -> Footprint:
    """What the steps show."""
    kinds = {step.kind for step in found.steps}
    curves = {kind: curve_of(found.of(kind), found.fixed) for kind in StepKind if kind in kinds}
    return Footprint(batch_size, found.place, found.fixed, curves, found.notes, found.length)
