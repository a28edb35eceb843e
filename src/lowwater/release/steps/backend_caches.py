"""Empties the caches of other backends, if the program has loaded them."""

import sys

from lowwater.release.request import Request
from lowwater.release.steps._step import Step


class BackendCaches(Step):
    """Programs that JAX has compiled, and blocks of GPU memory that torch keeps for reuse.

    A function of JAX that lives on is compiled again at its next call.
    """

    name = "backend caches"
    is_gentle = False

    def run(self, request: Request) -> str | None:  # noqa: ARG002 - the same for all
        """Call what each library offers for it."""
        jax, torch = sys.modules.get("jax"), sys.modules.get("torch")
        has_jax = hasattr(jax, "clear_caches")
        cuda = getattr(torch, "cuda", None)
        has_cuda = cuda is not None and cuda.is_initialized()
        if jax is not None and has_jax:
            jax.clear_caches()
        if has_cuda:
            cuda.empty_cache()
        return "" if has_jax or has_cuda else None
