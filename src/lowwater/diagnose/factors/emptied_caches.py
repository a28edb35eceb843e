"""Empty the caches that TensorFlow keeps for what it has run eagerly: kernels and numbers."""

import sys
from typing import Any

from lowwater.diagnose.change import Change
from lowwater.diagnose.factors._factor import Factor
from lowwater.diagnose.facts import Facts

_CONTEXT = "tensorflow.python.eager.context"


class EmptiedCaches(Factor):
    """What `clear_session()` does to the kernels, in every round; models and their state stay."""

    key = "caches"
    name = "TensorFlow's caches emptied"
    cleared = "not TensorFlow's eager caches"
    blamed = "what TensorFlow keeps for every new shape, seed, name or number"
    codes = ("LW209",)
    covers = ("mended", "one-shape")

    def why_not(self, facts: Facts) -> str | None:
        """Only TensorFlow has it."""
        return None if facts.has_tensorflow else "the program does not use TensorFlow"

    def apply(self, change: Change, detail: str) -> None:  # noqa: ARG002
        """As soon as TensorFlow has run anything."""
        change.in_every_round(_empty)


def _empty() -> None:
    context: Any = sys.modules.get(_CONTEXT)
    # Before the first operation there is none, and to ask for it would make one.
    present = context.context_safe() if context is not None else None
    if present is not None:
        present.clear_kernel_cache()
        context.pywrap_tfe.TFE_ClearScalarCache()
