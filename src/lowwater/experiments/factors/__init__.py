"""All factors, in the order in which they are told."""

from lowwater.experiments.factors._factor import Factor
from lowwater.experiments.factors.callbacks import WithoutCallbacks
from lowwater.experiments.factors.collected import Collected
from lowwater.experiments.factors.cpu_only import CpuOnly
from lowwater.experiments.factors.eager import Eager
from lowwater.experiments.factors.mended import Mended
from lowwater.experiments.factors.one_batch import OneBatch
from lowwater.experiments.factors.other_heap import OtherHeap
from lowwater.experiments.factors.same_model import SameModel

FACTORS: tuple[Factor, ...] = (
    WithoutCallbacks(),
    OneBatch(),
    SameModel(),
    CpuOnly(),
    Eager(),
    Mended(),
    OtherHeap(),
    Collected(),
)

__all__ = ["FACTORS", "Factor"]
