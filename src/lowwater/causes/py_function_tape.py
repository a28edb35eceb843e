"""LW305 py-function-tape."""

import ast
from typing import TYPE_CHECKING

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._lines import line_of_call
from lowwater.causes._paths import below, global_of_library, nearest_line
from lowwater.causes.upstream.py_function_tape import PY_FUNCTION_TAPE
from lowwater.model import Evidence, Holder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lowwater.check.source import Source
    from lowwater.model.source import SourceClaim


class PyFunctionTape(Cause):
    """A `py_function` runs under a tape, and its gradient is never computed.

    While a `GradientTape` records, TensorFlow keeps the inputs and the outputs of each
    `tf.py_function` in a global table, in case the gradient is needed.
    Only computing it removes the entry. A function that only logs or plots under the tape
    leaves its tensors there, with every call.

    Leaks:

        for x, y in batches:
            with tf.GradientTape() as tape:
                predicted = model(x)
                tf.py_function(log, [predicted], [])
                loss = loss_of(y, predicted)
            optimizer.apply(tape.gradient(loss, weights), weights)

    Stays flat:

        for x, y in batches:
            with tf.GradientTape() as tape:
                predicted = model(x)
                with tape.stop_recording():
                    tf.numpy_function(log, [predicted], [])
                loss = loss_of(y, predicted)
            optimizer.apply(tape.gradient(loss, weights), weights)

    Known problems:

        A result that is used, but not for the loss, is found only when the program runs.

    Fix safety:

        There is no automatic fix: a `numpy_function` passes NumPy arrays to the function.

    Applies to:

        TensorFlow 2.
    """

    code = "LW305"
    name = "py-function-tape"
    fix = PY_FUNCTION_TAPE.advice
    known = PY_FUNCTION_TAPE
    is_mostly_native = True

    words = ("py_function",)
    measured = "1.9 MB per iteration in the specimen of this rule"
    is_preview = True

    def claims(self, holder: Holder, evidence: Evidence) -> bool:  # noqa: ARG002
        """The table of tapes that wait for a gradient."""
        return global_of_library(holder) == "tape_cache"

    def account(self, holder: Holder, evidence: Evidence) -> Claim:
        """What stays with each call, and where the call is."""
        rate = _words.rate(holder.counts, "call", "calls", evidence)
        kept = next((step for step in reversed(below(holder)) if _kinds.is_tensor(step)), None)
        held = f", with {_words.one(kept)} and more" if kept and kept.about else ""
        message = (
            "TensorFlow keeps the arguments of `py_function` calls made under a tape: "
            f"{rate}{held}."
        )
        where = line_of_call(evidence, ("py_function",)) or nearest_line(holder)
        return Claim(message, where=where, holder="tensorflow tape cache")

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """A `py_function` in the block of a tape, whose result is not used."""
        for call in source.calls_of("py_function"):
            is_known = source.calls_library(
                call, "tensorflow.py_function", "tensorflow.v1.py_function"
            )
            if is_known and _is_dropped(call) and source.is_on_tape(call):
                yield source.claim(
                    call,
                    "TensorFlow keeps the arguments of this `py_function`: it runs under a tape, "
                    "and nothing computes its gradient.",
                    label="its inputs and outputs stay in memory with every call",
                )


def _is_dropped(call: ast.Call) -> bool:
    """Whether nothing uses the result."""
    return isinstance(getattr(call, "up", None), ast.Expr)
