"""Lowwater tells Keras users where their memory went, and gives it back."""

from typing import TYPE_CHECKING, Any

from lowwater.instrumentation.explicit import boundary
from lowwater.mend import mend

if TYPE_CHECKING:
    from lowwater.giveback.lifecycle import lifecycle
    from lowwater.giveback.release import release
    from lowwater.giveback.sessions import sessions

__version__ = "0.1.0.dev0"
__all__ = ["__version__", "boundary", "lifecycle", "mend", "release", "sessions"]

# Loaded when first asked for: the agent imports this package before the user's script runs.
_LAZY = {
    "lifecycle": "lowwater.giveback.lifecycle",
    "release": "lowwater.giveback.release",
    "sessions": "lowwater.giveback.sessions",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(_LAZY[name]), name)
    return found
