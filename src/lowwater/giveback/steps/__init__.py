"""The ladder: one file per step, the gentlest first."""

from lowwater.giveback.steps._step import ReleaseStep
from lowwater.giveback.steps.backend_caches import BackendCaches
from lowwater.giveback.steps.collector import Collector
from lowwater.giveback.steps.gradient_registry import PrunedRegistry
from lowwater.giveback.steps.heap_trim import HeapTrim
from lowwater.giveback.steps.hollowing import Hollowing
from lowwater.giveback.steps.keras_state import KerasState
from lowwater.giveback.steps.references import DroppedReferences
from lowwater.giveback.steps.v1_sessions import V1Sessions

# Dead graphs go before anything is emptied: while the registry holds them, they hold models, and
# it would seem that somebody else did. Emptied models are no reason to refuse `clear_session()`.
LADDER: tuple[ReleaseStep, ...] = (
    DroppedReferences(),
    Collector(),
    V1Sessions(),
    PrunedRegistry(),
    Hollowing(),
    KerasState(),
    BackendCaches(),
    HeapTrim(),
)

__all__ = ["LADDER", "ReleaseStep"]
