"""One file per way to need less memory; each is applied to a model and measured, not asserted."""

from lowwater.sizing.remedies._way import DoesNotApply, RemedyWay
from lowwater.sizing.remedies.compiled_by_xla import CompiledByXla
from lowwater.sizing.remedies.gradient_accumulation import GradientAccumulation
from lowwater.sizing.remedies.mixed_precision import MixedPrecision
from lowwater.sizing.remedies.one_step_per_execution import OneStepPerExecution
from lowwater.sizing.remedies.plain_sgd import PlainSGD
from lowwater.sizing.remedies.rematerialisation import Rematerialisation
from lowwater.sizing.remedies.smaller_inputs import SmallerInputs

# Those that change the least in the results come first.
WAYS: tuple[RemedyWay, ...] = (
    GradientAccumulation(),
    Rematerialisation(),
    OneStepPerExecution(),
    CompiledByXla(),
    MixedPrecision(),
    PlainSGD(),
    SmallerInputs(),
)

__all__ = ["WAYS", "DoesNotApply", "RemedyWay"]
