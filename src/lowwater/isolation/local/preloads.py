"""Which frameworks a fresh process will need, and whether one may fork after importing them."""

import importlib.machinery
import os
import sys
import threading
from collections.abc import Mapping
from typing import Any

_FRAMEWORKS = (
    *("torch", "jax", "tensorflow", "keras", "tf_keras", "numpy", "pandas", "sklearn"),
    *("optuna", "keras_tuner"),
)

# Settings that a framework reads when it is imported: with others it has to be imported anew.
_READ_AT_IMPORT = (
    "KERAS_ TF_ XLA_ JAX_ OMP_ MKL_ KMP_ OPENBLAS_ PYTORCH_ TORCH_ MALLOC_ LD_ PYTHON"
).split()


def frameworks_here() -> tuple[str, ...]:
    """Those that this process has imported; what only a test has put there is not one.

    In the order in which it did: some cannot be loaded after others. Triton, which Keras on torch
    needs, ends a process in which JAX or TensorFlow came first: both bring a copy of LLVM.
    """
    return tuple(
        name for name in [*sys.modules] if name in _FRAMEWORKS and _is_real(sys.modules[name])
    )


def settings_here() -> dict[str, str]:
    """The environment, as far as frameworks read it at import."""
    return settings_of(os.environ)


def settings_of(variables: Mapping[str, str]) -> dict[str, str]:
    """Those of any environment."""
    read = tuple(_READ_AT_IMPORT)
    return {name: value for name, value in variables.items() if name.startswith(read)}


class Lesson:
    """Which frameworks a function imports by itself: the next process can have them beforehand."""

    def __init__(self) -> None:
        """Look before the function is called."""
        self._before = frameworks_here()
        self._settings = _chosen_settings()

    def learned(self) -> tuple[str, ...]:
        """What was imported since; nothing where the function chose settings for it first."""
        if _chosen_settings() != self._settings:
            return ()
        return tuple(name for name in frameworks_here() if name not in self._before)


def why_not_to_fork() -> str | None:
    """The reason why this process must not be forked; None if it may be."""
    if threading.active_count() > 1:
        return "importing started threads"
    context: Any = sys.modules.get("tensorflow.python.eager.context")
    if context is not None and _is_initialized(context):
        return "importing already started TensorFlow"
    bridge: Any = sys.modules.get("jax._src.xla_bridge")
    if bridge is not None and getattr(bridge, "_backends", None):
        return "importing already started JAX"
    torch: Any = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        return "importing already started CUDA"
    return None


def _chosen_settings() -> dict[str, str]:
    # JAX sets the level of logging by itself when it is imported.
    return {name: value for name, value in settings_here().items() if "_LOG_" not in name}


def _is_initialized(context: Any) -> bool:  # noqa: ANN401
    now = getattr(context, "_context", None)
    return bool(getattr(now, "_initialized", False))


def _is_real(module: Any) -> bool:  # noqa: ANN401
    return isinstance(getattr(module, "__spec__", None), importlib.machinery.ModuleSpec)
