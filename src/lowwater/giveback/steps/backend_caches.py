"""Empties the caches of other backends, if the program has loaded them."""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from lowwater.giveback.request import ReleaseRequest
from lowwater.giveback.steps._step import ReleaseStep


class BackendCaches(ReleaseStep):
    """Programs that JAX has compiled, and blocks of GPU memory that torch keeps for reuse.

    A function of JAX that lives on is compiled again at its next call.
    """

    name = "backend caches"
    is_gentle = False

    def run(self, request: ReleaseRequest) -> str | None:  # noqa: ARG002 - the same for all
        """Call what each library offers for it."""
        jax, torch = sys.modules.get("jax"), sys.modules.get("torch")
        calls = [getattr(jax, "clear_caches", None), _empty_cache(torch)]
        for call in filter(None, calls):
            call()
        return "" if any(calls) else None


def _empty_cache(torch: ModuleType | None) -> Callable[[], None] | None:
    """Only where CUDA is up already: to ask for its cache would start it."""
    cuda: Any = getattr(torch, "cuda", None)
    return cuda.empty_cache if cuda is not None and cuda.is_initialized() else None
