"""Lowwater tells Keras users where their memory went, and gives it back."""

import sys
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lowwater.agent.device_settings import devices
    from lowwater.agent.instrumentation.explicit import boundary
    from lowwater.giveback.holdings import holdings
    from lowwater.giveback.lifecycle import lifecycle
    from lowwater.giveback.mend import mend
    from lowwater.giveback.release import release
    from lowwater.giveback.sessions import sessions
    from lowwater.isolation.adapters.joblib import joblib_backend
    from lowwater.isolation.isolated import isolated
    from lowwater.isolation.mapping import map_trials as map  # noqa: A004
    from lowwater.probes.memory import memory
    from lowwater.sizing.footprint import footprint, largest_batch

__version__ = "0.1.0.dev0"
__all__ = [
    "__version__",
    "boundary",
    "devices",
    "footprint",
    "holdings",
    "isolated",
    "joblib_backend",
    "largest_batch",
    "lifecycle",
    "map",
    "memory",
    "mend",
    "release",
    "sessions",
]

# Loaded when first asked for: the agent imports this package before the user's script runs, and
# `python -m lowwater` while the user's folder, which may have a `copy.py`, is still on the path.
_LAZY = {
    "boundary": ("lowwater.agent.instrumentation.explicit", "boundary"),
    "devices": ("lowwater.agent.device_settings", "devices"),
    "footprint": ("lowwater.sizing.footprint", "footprint"),
    "holdings": ("lowwater.giveback.holdings", "holdings"),
    "isolated": ("lowwater.isolation.isolated", "isolated"),
    "joblib_backend": ("lowwater.isolation.adapters.joblib", "joblib_backend"),
    "largest_batch": ("lowwater.sizing.footprint", "largest_batch"),
    "lifecycle": ("lowwater.giveback.lifecycle", "lifecycle"),
    "map": ("lowwater.isolation.mapping", "map_trials"),
    "memory": ("lowwater.probes.memory", "memory"),
    "mend": ("lowwater.giveback.mend", "mend"),
    "release": ("lowwater.giveback.release", "release"),
    "sessions": ("lowwater.giveback.sessions", "sessions"),
}
# What writes receipts. Loaded by the first call it would be memory that the program has lost.
_WITH_RECEIPTS = ("lifecycle", "release")


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, real_name = _LAZY[name]
    found = globals()[name] = getattr(import_module(module), real_name)
    return found


def _is_asked_for(frame: FrameType | None) -> bool:
    """Whether a program imports us, and not one of our own doors, which import a part of us."""
    while frame is not None and frame.f_code.co_filename.startswith("<frozen importlib"):
        if str(frame.f_locals.get("name")).startswith(f"{__name__}."):
            return False
        frame = frame.f_back
    # `python -m lowwater` imports us as a whole.
    return frame is not None and frame.f_globals.get("__name__") != "runpy"


if _is_asked_for(sys._getframe(1)):  # noqa: SLF001 - the public way costs milliseconds
    for _name in _WITH_RECEIPTS:
        __getattr__(_name)
