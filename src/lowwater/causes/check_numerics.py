"""LW214 check-numerics."""

from typing import TYPE_CHECKING

from lowwater.causes import _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._lines import TRAINING, line_of_call, models_made
from lowwater.causes._paths import global_of_library
from lowwater.causes.upstream.check_numerics import CHECK_NUMERICS
from lowwater.model import Evidence, Holder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lowwater.check.source import Source
    from lowwater.model.source import SourceClaim

_TABLE = "CHECK_NUMERICS_INPUT_LOOKUP"
_TRACING = ("predict", "evaluate", *TRAINING)


class CheckNumerics(Cause):
    """`tf.debugging.enable_check_numerics()` keeps every graph that is traced.

    To find the operation that made the first bad number, TensorFlow stores the inputs of each
    operation by graph, in a table that lives as long as the process.
    Temporary models and functions leave their graphs there: measured on
    TensorFlow 2.21, 0.1 MB for each small function, 0.2 MB for each small model that predicts.
    `disable_check_numerics()` stops the growth, but frees nothing.

    Leaks:

        tf.debugging.enable_check_numerics()
        for fold in range(100):
            model = build_model()
            model.predict(x[fold])

    Stays flat:

        for fold in range(100):
            model = build_model()
            model.predict(x[fold])
            keras.utils.clear_session()

    Known problems:

        A check that another file switches on is not seen.

    Fix safety:

        There is no automatic fix: whether the check is still needed is for you to decide.

    Applies to:

        TensorFlow 2.11 and later.
    """

    code = "LW214"
    name = "check-numerics"
    fix = CHECK_NUMERICS.advice
    known = CHECK_NUMERICS
    is_mostly_native = True
    words = ("enable_check_numerics",)
    measured = "0.2 MB for each small model that predicts"

    def claims(self, holder: Holder, evidence: Evidence) -> bool:  # noqa: ARG002
        """The table of operations' inputs."""
        return global_of_library(holder) == _TABLE

    def account(self, holder: Holder, evidence: Evidence) -> Claim:
        """How many graphs stay, and what traces them."""
        rate = _words.rate(holder.counts, "graph", "graphs", evidence)
        message = f"`enable_check_numerics()` keeps every traced graph, {rate}."
        made = models_made(evidence)
        where = line_of_call(evidence, _TRACING) or (made.where if made else None)
        return Claim(message, where=where, holder="tensorflow check_numerics")

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """The check is on, and a loop makes and uses models."""
        names = ("enable_check_numerics", "disable_check_numerics")
        if not any(source.calls_of(names[0])) or any(source.calls_of(names[1])):
            return
        for _, loop in source.made_in_loops("model"):
            for call in source.reached(loop):
                if source.method_of(call, "model") in _TRACING:
                    yield source.claim(
                        call,
                        "`enable_check_numerics()` is on, so TensorFlow keeps the graphs of every "
                        "model that the loop makes.",
                        label="the graph that is traced here stays until the process ends",
                    )
                    return
