"""All factors, in the order in which they are told."""

from lowwater.experiments.factors._factor import Factor
from lowwater.experiments.factors.callbacks import WithoutCallbacks
from lowwater.experiments.factors.closed_sessions import ClosedSessions
from lowwater.experiments.factors.collected import Collected
from lowwater.experiments.factors.cpu_only import CpuOnly
from lowwater.experiments.factors.eager import Eager
from lowwater.experiments.factors.emptied_caches import EmptiedCaches
from lowwater.experiments.factors.fresh_model import FreshModel
from lowwater.experiments.factors.jemalloc import Jemalloc
from lowwater.experiments.factors.mended import Mended
from lowwater.experiments.factors.no_buffers import NoBuffers
from lowwater.experiments.factors.one_batch import OneBatch
from lowwater.experiments.factors.one_item import OneItem
from lowwater.experiments.factors.one_shape import OneShape
from lowwater.experiments.factors.other_heap import OtherHeap
from lowwater.experiments.factors.same_model import SameModel
from lowwater.experiments.factors.short_containers import ShortContainers

FACTORS: tuple[Factor, ...] = (
    WithoutCallbacks(),
    # What is more special comes before what would take its share away as well.
    NoBuffers(),
    OneItem(),
    OneBatch(),
    OneShape(),
    Mended(),
    EmptiedCaches(),
    ClosedSessions(),
    SameModel(),
    CpuOnly(),
    Eager(),
    OtherHeap(),
    Jemalloc(),
    Collected(),
    FreshModel(),
    # The broadest: what is kept in a container may have been kept by any of the others.
    ShortContainers(),
)


def find_factor(key: str) -> Factor:
    """By its key, those that are tried in the place of another included."""
    every = (one for factor in FACTORS for one in (factor, factor.instead) if one is not None)
    return next(one for one in every if one.key == key)


__all__ = ["FACTORS", "Factor", "find_factor"]
