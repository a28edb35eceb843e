"""LW105 traceback-retention."""

from typing import TYPE_CHECKING

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._paths import below, line_of, name_of
from lowwater.model import Evidence, Holder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lowwater.check.source import Source
    from lowwater.check.source_growth import SourceGrowth
    from lowwater.model.source import SourceClaim

_DATA = frozenset({"array", "arrays", "tensor", "model", "data set"})


class TracebackRetention(Cause):
    """A kept exception holds the frames of the failed call, and so its models and tensors.

    The `__traceback__` of an exception holds every frame between the failure and the `except`,
    and a frame holds all its local variables.
    If you keep the exception of a failed trial, you keep the whole trial: data and model.

    Leaks:

        failures = []
        for trial in range(100):
            try:
                run_trial(trial)
            except ValueError as error:
                failures.append(error)

    Stays flat:

        failures = []
        for trial in range(100):
            try:
                run_trial(trial)
            except ValueError as error:
                failures.append(repr(error))

    Known problems:

        Only exceptions of a `try` block are found in which something makes or uses arrays,
        tensors or models.
        An exception that a helper returns is not seen.

    Fix safety:

        There is no automatic fix: the program may read attributes of the exception.

    Applies to:

        Every program that uses TensorFlow, Keras, JAX or torch.
    """

    code = "LW105"
    name = "traceback-retention"
    fix = (
        "Keep the message, not the exception: `failures.append(repr(error))`; or drop its frames "
        "first: `error.with_traceback(None)`."
    )
    # A failed trial keeps its model with all graphs, whichever of its variables is the heaviest.
    is_mostly_native = True
    words = ("except ",)
    words_beside = (".append", ".add(", "] =", ".setdefault", "+=", ".update(", ".insert(")
    measured = "1.5 MiB per iteration in the specimen of this rule"

    def claims(self, holder: Holder, evidence: Evidence) -> bool:  # noqa: ARG002
        """New items lead to an exception, a traceback, or the frame of a finished call."""
        parts = below(holder)
        if any(_kinds.is_exception(step) or _kinds.is_traceback(step) for step in parts):
            return True
        suspended = any(_kinds.is_generator(step) for step in parts)
        return any(_kinds.is_frame(step) for step in parts) and not suspended

    def account(self, holder: Holder, evidence: Evidence) -> Claim:
        """Who keeps the exceptions, and which call they keep."""
        parts, name = below(holder), name_of(holder)
        kept = next((step for step in parts if _kinds.is_exception(step)), None)
        noun = f"`{_kinds.class_name(kept.type)}`" if kept else "frame"
        rate = _words.rate(holder.counts, noun, f"{noun}s" if kept is None else noun, evidence)
        message = f"`{name}` grows by {rate}, whose traceback keeps {_held(holder)}."
        return Claim(message, where=line_of(holder), holder=name)

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """The exception of a failed call that had data is added to a container."""
        for growth in source.growths if source.keeps_exceptions else ():
            if "exception" in growth.kinds and _had_data(growth):
                yield source.claim(
                    growth.node,
                    f"`{growth.name}` keeps the exception of every failed {growth.round.name}, "
                    "and with it all data of the failed call.",
                    label="its traceback holds the local variables: arrays, tensors, models",
                )


def _held(holder: Holder) -> str:
    """The variables of the failed call, with the one that leads to most bytes if it is known."""
    parts = below(holder)
    local = next((step for step in parts if step.edge.startswith("local ")), None)
    if local is None:
        return "all variables of the failed call"
    variable, heavy = local.edge.removeprefix("local "), _words.one(parts[-1])
    return f"the variables of the failed call, such as `{variable}` ({heavy})"


def _had_data(growth: "SourceGrowth") -> bool:
    """Whether what failed had arrays, tensors or models."""
    source = growth.source
    return any(
        source.kinds(call) & _DATA or source.method_of(call, "model")
        for call in source.tried_before(growth.node)
    )
