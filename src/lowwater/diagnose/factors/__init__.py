"""All factors, in the order in which they are told."""

from collections.abc import Iterator

from lowwater.diagnose.factors._factor import Factor
from lowwater.diagnose.factors.callbacks import WithoutCallbacks
from lowwater.diagnose.factors.closed_sessions import ClosedSessions
from lowwater.diagnose.factors.closed_tapes import ClosedTapes
from lowwater.diagnose.factors.collected import CollectedEachRound
from lowwater.diagnose.factors.cpu_only import CpuOnly
from lowwater.diagnose.factors.cut_holders import CutHolders
from lowwater.diagnose.factors.eager import Eager
from lowwater.diagnose.factors.emptied_caches import EmptiedCaches
from lowwater.diagnose.factors.fresh_model import FreshModel
from lowwater.diagnose.factors.jemalloc import Jemalloc
from lowwater.diagnose.factors.mended import MendedLibraries
from lowwater.diagnose.factors.no_buffers import NoBuffers
from lowwater.diagnose.factors.one_batch import OneBatch
from lowwater.diagnose.factors.one_item import OneItem
from lowwater.diagnose.factors.one_operation import OneOperation
from lowwater.diagnose.factors.one_shape import OneShape
from lowwater.diagnose.factors.other_heap import OtherHeap
from lowwater.diagnose.factors.same_model import SameModel

FACTORS: tuple[Factor, ...] = (
    WithoutCallbacks(),
    # What is more special comes before what would take its share away as well.
    NoBuffers(),
    OneItem(),
    # What holds comes before what only makes less of what is held.
    CutHolders(),
    OneBatch(),
    OneShape(),
    MendedLibraries(),
    EmptiedCaches(),
    ClosedSessions(),
    ClosedTapes(),
    OneOperation(),
    SameModel(),
    CpuOnly(),
    Eager(),
    OtherHeap(),
    Jemalloc(),
    CollectedEachRound(),
    FreshModel(),
)


def find_factor(key: str) -> Factor:
    """By its key, those that are tried in the place of another included."""
    every = (one for factor in FACTORS for one in (factor, *in_its_place(factor)))
    return next(one for one in every if one.key == key)


def in_its_place(factor: Factor) -> Iterator[Factor]:
    """What is tried one after the other where the program cannot be run with a change."""
    while factor.instead is not None:
        factor = factor.instead
        yield factor


__all__ = ["FACTORS", "Factor", "find_factor", "in_its_place"]
