"""The ladder: one file per step, the gentlest first."""

from lowwater.release.steps._step import Step
from lowwater.release.steps.backend_caches import BackendCaches
from lowwater.release.steps.collector import Collector
from lowwater.release.steps.gradient_registry import GradientRegistry
from lowwater.release.steps.heap_trim import HeapTrim
from lowwater.release.steps.hollowing import Hollowing
from lowwater.release.steps.keras_state import KerasState
from lowwater.release.steps.references import References
from lowwater.release.steps.v1_sessions import V1Sessions

# Dead graphs go before anything is emptied: while the registry holds them, they hold models, and
# it would seem that somebody else did. Emptied models are no reason to refuse `clear_session()`.
LADDER: tuple[Step, ...] = (
    References(),
    Collector(),
    V1Sessions(),
    GradientRegistry(),
    Hollowing(),
    KerasState(),
    BackendCaches(),
    HeapTrim(),
)

__all__ = ["LADDER", "Step"]
