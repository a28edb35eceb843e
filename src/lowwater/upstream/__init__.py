"""Known leaks of the libraries themselves: one file each, in one list."""

from lowwater.upstream._known_leak import KnownLeak
from lowwater.upstream.eager_cache import EAGER_CACHE
from lowwater.upstream.gradient_registry import GRADIENT_REGISTRY
from lowwater.upstream.pipeline_per_round import PIPELINE_PER_ROUND

KNOWN_LEAKS: tuple[KnownLeak, ...] = (GRADIENT_REGISTRY, EAGER_CACHE, PIPELINE_PER_ROUND)

__all__ = ["KNOWN_LEAKS", "KnownLeak"]
