"""Drops references that nobody will miss: of dead exceptions, of compiled functions."""

import contextlib
import sys
from typing import Any

from lowwater.giveback.living import MODEL
from lowwater.giveback.request import ReleaseRequest
from lowwater.giveback.steps._step import ReleaseStep

_LAST = ("last_traceback", "last_value", "last_type", "last_exc")
_UNDERSCORES = ("_", "__", "___")
# Keras makes them anew when the model is used again.
_COMPILED = ("train_function", "test_function", "predict_function", "train_tf_function")


class DroppedReferences(ReleaseStep):
    """The last exception of an interactive session, and the compiled functions of what is given.

    A model that lives on in spite of it loses no weight and no state: Keras compiles its
    functions again when they are needed. Results that a notebook keeps in `Out` are dropped
    only when asked for.
    """

    name = "drop references"

    def run(self, request: ReleaseRequest) -> str | None:
        """Drop them; what they held dies now or in the next collection."""
        for name in _LAST:
            if hasattr(sys, name):
                delattr(sys, name)
        for one in request.alive(MODEL):
            if one.identity not in request.kept:
                _drop_compiled(one.reference())
        if request.notebook:
            return _flush_notebook()
        return ""


def _drop_compiled(model: Any) -> None:  # noqa: ANN401
    for name in _COMPILED:
        # A model of another release, or of the program's own making: then it stays as it is.
        with contextlib.suppress(Exception):
            if getattr(model, name, None) is not None:
                setattr(model, name, None)


def _flush_notebook() -> str:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None:
        return "no notebook is running, so there is no output cache to drop"
    shell.displayhook.flush()
    # What `flush` forgets: its own second list of `_`, `__` and `___`, and the last result.
    hidden = getattr(shell, "user_ns_hidden", {})
    hidden.update({name: "" for name in _UNDERSCORES if name in hidden})
    if getattr(shell, "last_execution_result", None) is not None:
        shell.last_execution_result = None
    return ""
