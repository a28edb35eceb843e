"""Known leaks of the libraries themselves: one file each, in one list."""

from lowwater.causes.upstream._known_leak import KnownLeak
from lowwater.causes.upstream.check_numerics import CHECK_NUMERICS
from lowwater.causes.upstream.eager_cache import EAGER_CACHE
from lowwater.causes.upstream.gradient_registry import GRADIENT_REGISTRY
from lowwater.causes.upstream.layer_nodes import LAYER_NODES
from lowwater.causes.upstream.lookup_table import LOOKUP_TABLE
from lowwater.causes.upstream.pipeline_per_round import PIPELINE_PER_ROUND
from lowwater.causes.upstream.py_function_tape import PY_FUNCTION_TAPE
from lowwater.causes.upstream.serializable_registry import SERIALIZABLE_REGISTRY
from lowwater.causes.upstream.xla_cache import XLA_CACHE

# The more programs have it, the further up it stands: the doctor prints them in this order.
KNOWN_LEAKS: tuple[KnownLeak, ...] = (
    GRADIENT_REGISTRY,
    EAGER_CACHE,
    PIPELINE_PER_ROUND,
    LAYER_NODES,
    LOOKUP_TABLE,
    XLA_CACHE,
    PY_FUNCTION_TAPE,
    SERIALIZABLE_REGISTRY,
    CHECK_NUMERICS,
)

__all__ = ["KNOWN_LEAKS", "KnownLeak"]
