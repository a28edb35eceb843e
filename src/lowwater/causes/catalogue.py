"""The one list of all causes, and the question that is put to them."""

from lowwater.causes._attribution import attribute, why_nothing_is_found
from lowwater.causes._cause import Cause, Claim
from lowwater.causes.callback_retention import CallbackRetention
from lowwater.causes.check_numerics import CheckNumerics
from lowwater.causes.clear_session_in_epoch import ClearSessionInEpoch
from lowwater.causes.closure_capture import ClosureCapture
from lowwater.causes.dataset_cache import DatasetCache
from lowwater.causes.eager_cache import EagerCache
from lowwater.causes.file_backed import FileBacked
from lowwater.causes.function_per_round import FunctionPerRound
from lowwater.causes.generator_retention import GeneratorRetention
from lowwater.causes.gradient_registry import GradientRegistry
from lowwater.causes.graph_growth import GraphGrowth
from lowwater.causes.greedy_gpu import GreedyGpu
from lowwater.causes.growing_container import GrowingContainer
from lowwater.causes.heap_fragmentation import HeapFragmentation
from lowwater.causes.history_keeps_model import HistoryKeepsModel
from lowwater.causes.large_buffer import LargeBuffer
from lowwater.causes.layer_nodes import LayerNodes
from lowwater.causes.lookup_table import LookupTable
from lowwater.causes.model_accumulation import ModelAccumulation
from lowwater.causes.native_growth import NativeGrowth
from lowwater.causes.notebook_output import NotebookOutput
from lowwater.causes.open_session import OpenSession
from lowwater.causes.persistent_tape import PersistentTape
from lowwater.causes.pipeline_per_round import PipelinePerRound
from lowwater.causes.py_function_tape import PyFunctionTape
from lowwater.causes.reserved_pool import ReservedPool
from lowwater.causes.retraced_function import RetracedFunction
from lowwater.causes.serializable_registry import SerializableRegistry
from lowwater.causes.traceback_retention import TracebackRetention
from lowwater.causes.unbounded_memo import UnboundedMemo
from lowwater.causes.waits_for_collector import WaitsForCollector
from lowwater.causes.xla_cache import XlaCache
from lowwater.model import Evidence, Finding

# The first that claims a path has it, so the more special stand before the more general.
CAUSES: tuple[Cause, ...] = (
    NotebookOutput(),
    TracebackRetention(),
    UnboundedMemo(),
    # Tables of the libraries, each known by its own name.
    PipelinePerRound(),
    PyFunctionTape(),
    SerializableRegistry(),
    CheckNumerics(),
    LayerNodes(),
    # What makes graphs again and again stands before the registry that keeps them.
    FunctionPerRound(),
    RetracedFunction(),
    ClearSessionInEpoch(),
    GradientRegistry(),
    OpenSession(),
    GraphGrowth(),
    PersistentTape(),
    GeneratorRetention(),
    HistoryKeepsModel(),
    CallbackRetention(),
    ClosureCapture(),
    WaitsForCollector(),
    DatasetCache(),
    LargeBuffer(),
    ModelAccumulation(),
    # Nothing of these is in Python: they are told by what was counted, the dearest first.
    XlaCache(),
    LookupTable(),
    EagerCache(),
    GrowingContainer(),
    ReservedPool(),
    HeapFragmentation(),
    FileBacked(),
    GreedyGpu(),
    NativeGrowth(),
)


def find_causes(evidence: Evidence) -> tuple[Finding, ...]:
    """What holds the memory that grew, ranked by the share of the growth that it explains."""
    return attribute(evidence, CAUSES)


__all__ = ["CAUSES", "Cause", "Claim", "find_causes", "why_nothing_is_found"]
