"""LW210 xla-cache."""

from typing import TYPE_CHECKING

from lowwater.causes import _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._lines import (
    TRAINING,
    altogether,
    grown,
    has_one_model,
    line_of_call,
    models_made,
    retraced,
)
from lowwater.causes.upstream.xla_cache import XLA_CACHE
from lowwater.model import Evidence, Tally, tallies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lowwater.check.source import Source
    from lowwater.model.source import SourceClaim

_HOLDER = "tensorflow XLA cache"
_USING = (*TRAINING, "predict", "evaluate", "predict_on_batch", "test_on_batch")
_CLEAR_FIX = (
    "Do not call `clear_session()` between fits of one model; it frees nothing of that model."
)


class XlaCache(Cause):
    """TensorFlow keeps every program that XLA has compiled.

    With `jit_compile=True`, XLA compiles a model or a `tf.function` for each input shape.
    The result stays in a cache of the process, even after the model or the function is deleted:
    measured on TensorFlow 2.21, 2 MB for each small model that is fitted, 0.4 MB for each that
    predicts, 0.2 MB for each new shape.
    `clear_session()` frees none of it, and makes it worse for a model that is still in use:
    the model is compiled again, and both programs stay.
    The Keras default, `jit_compile="auto"`, compiles only on machines with a GPU.

    Leaks:

        for fold in range(10):
            model = build_model()
            model.compile("adam", "mse", jit_compile=True)
            model.predict(x[fold])

    Stays flat:

        for fold in range(10):
            model = build_model()
            model.compile("adam", "mse", jit_compile=False)
            model.predict(x[fold])
            keras.utils.clear_session()

    Known problems:

        The default, `jit_compile="auto"`, is not blamed: it compiles only on machines with a
        GPU.

    Fix safety:

        There is no automatic fix: without XLA a step may be slower.

    Applies to:

        TensorFlow 2.11 and later.
    """

    code = "LW210"
    name = "xla-cache"
    fix = XLA_CACHE.advice
    known = XLA_CACHE
    is_mostly_native = True
    words = ("jit_compile",)
    measured = "2 MB for each small model that is fitted, 0.4 MB for each that predicts"

    def in_rest(self, rest_bytes: int, evidence: Evidence) -> Claim | None:  # noqa: ARG002
        """Functions to compile are made in every interval, or one that is there is compiled on."""
        made = altogether(evidence, tallies.XLA)
        if made is not None:
            return _of_functions(made, evidence)
        return _of_shapes(evidence) or _of_clearing(evidence)

    def beside(self, codes: frozenset[str], evidence: Evidence) -> Claim | None:
        """Models that others keep were compiled, so the compiled programs stay as well."""
        made = altogether(evidence, tallies.XLA)
        if made is None or codes.isdisjoint({"LW201", "LW205", "LW207"}):
            return None
        message = "XLA also compiled each of these, and TensorFlow keeps the compiled programs."
        return Claim(message, where=made.where, holder=_HOLDER)

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """A model or a function is compiled with XLA in each round."""
        for call in source.calls_of("compile", "function"):
            is_xla = any(one.arg == "jit_compile" and getattr(one.value, "value", None) is True
                         for one in call.keywords)  # fmt: skip
            is_compiled = source.method_of(call, "model") == "compile" or source.calls_library(
                call, "tensorflow.function"
            )
            rounds = source.rounds(call) if is_xla and is_compiled else []
            if rounds:
                yield source.claim(
                    call,
                    f"XLA compiles a new program in every {rounds[0].name}, and TensorFlow keeps "
                    "each.",
                    label="the program stays until the process ends",
                )


def _of_functions(made: Tally, evidence: Evidence) -> Claim:
    often = _words.often(made, evidence)
    what = "A new model" if models_made(evidence) is not None else "A new function"
    message = f"{what} is compiled by XLA {often}, and TensorFlow keeps every program."
    return Claim(message, made.where, _HOLDER)


def _of_shapes(evidence: Evidence) -> Claim | None:
    """The call that had a function compiled is given new shapes, and none of it is traced."""
    shapes = grown(evidence, tallies.SHAPES)
    is_compiled = shapes is not None and shapes.where in _compiled_at(evidence)
    if shapes is None or not is_compiled or retraced(evidence) is not None:
        return None
    rate = _words.rise(shapes, "new shape", "new shapes", evidence)
    message = f"`{shapes.name}` gets {rate}, and XLA compiles and keeps a program for each."
    fix = "Use one input shape, or a few: for example, pad to the next multiple of 64."
    return Claim(message, shapes.where, _HOLDER, fix)


def _of_clearing(evidence: Evidence) -> Claim | None:
    """The state is cleared in every interval, and a compiled model is used on."""
    cleared = grown(evidence, tallies.CALLS, "clear_session")
    is_used = line_of_call(evidence, _USING) in _compiled_at(evidence)
    if cleared is None or not is_used or not has_one_model(evidence):
        return None
    message = (
        "After `clear_session()` XLA compiles the same model again, "
        f"{_words.often(cleared, evidence)}, and TensorFlow keeps every program."
    )
    return Claim(message, cleared.where, _HOLDER, _CLEAR_FIX)


def _compiled_at(evidence: Evidence) -> set[str]:
    """The lines that had a function compiled."""
    counted = (one for one in evidence.tallied(tallies.CALLS) if one.name == tallies.XLA)
    return {one.where for one in counted if one.where is not None}
