"""LW207 function-per-round."""

from dataclasses import replace
from typing import TYPE_CHECKING

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._lines import grew, remade, short_name
from lowwater.causes.gradient_registry import is_in_registry, is_repaired
from lowwater.model import Evidence, Holder, Tally, tallies

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from lowwater.check.rounds import Round
    from lowwater.check.source import Source
    from lowwater.check.source_growth import SourceGrowth
    from lowwater.model.source import SourceClaim

_FUNCTION_FIX = (
    "Make the function once, before the loop, and pass what changes as a tensor or a `tf.Variable`."
)


class FunctionPerRound(Cause):
    """Every round creates a new `tf.function`, `compile()` or optimizer.

    Each `tf.function` has its own graphs:
    a new one, created inside the loop, traces everything again.
    `compile()` gives a model new functions and a new training state; so does a new optimizer.
    TensorFlow's gradient registry (LW205) then keeps the old graphs.

    Leaks:

        for epoch in range(100):
            model.compile("adam", "mse")
            model.fit(x, y, epochs=1)

    Stays flat:

        model.compile("adam", "mse")
        for epoch in range(100):
            model.fit(x, y, epochs=1)

    Known problems:

        A function made again in each round is blamed only if it is kept or trains: one that is
        dropped costs time, but no memory.
        A new optimizer without `compile()` is found only when the program runs.
        A loop of three rounds or fewer is not blamed.

    Fix safety:

        There is no automatic fix: what must move out of the loop is for you to decide.

    Applies to:

        TensorFlow 2.11 and later.
    """

    code = "LW207"
    name = "function-per-round"
    fix = (
        "Compile the model once, before the loop. To change the learning rate, assign "
        "`optimizer.learning_rate`."
    )
    is_mostly_native = True
    words = ("compile(", "tf.function", "tensorflow.function", "jit(", "import function")
    measured = "1.1 MiB per iteration in the specimen of this rule"

    def claims(self, holder: Holder, evidence: Evidence) -> bool:
        """Graphs that the library keeps are due to what makes them, if that is known."""
        has_graph = any(_kinds.is_tf_function(s) or _kinds.is_traced_graph(s) for s in holder.steps)
        is_graphs = is_in_registry(holder) or (has_graph and not holder.is_users)
        return is_graphs and remade(evidence) is not None

    def account(self, holder: Holder, evidence: Evidence) -> Claim:
        """What is made anew, and where; the registry is told of where it does the keeping."""
        made = remade(evidence)
        assert made is not None, "claimed because of what is created again"
        found = _told(made, evidence)
        if not is_in_registry(holder):
            return found
        message = f"{found.message} TensorFlow's gradient registry (LW205) keeps what each traced."
        return replace(found, message=message)

    def in_rest(self, rest_bytes: int, evidence: Evidence) -> Claim | None:  # noqa: ARG002
        """Ever more functions live, with their traces; those that were dropped leave nothing.

        Nor does `compile()` or a new optimizer alone: `model.save` makes one too.
        """
        made = remade(evidence)
        if made is None or made.kind != tallies.FUNCTIONS:
            return None
        traces = (one for one in evidence.tallied(tallies.TRACES) if grew(one, evidence))
        is_alive = any((one.name, one.where) == (made.name, made.where) for one in traces)
        return _told(made, evidence) if is_alive else None

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """The same model is compiled in each round, or a function is made in each."""
        for call in source.calls_of("compile"):
            repeated = _compiled_again(source, call)
            if repeated is not None:
                model = source.text_of(source.receiver(call))
                yield source.claim(
                    call,
                    f"`{model}` is compiled again in every {repeated.name}.",
                    label="each `compile()` makes new functions, which are traced again and kept",
                )
        for growth in source.growths:
            if "traced function" in growth.kinds and _is_made_here(growth):
                yield source.claim(
                    growth.node,
                    f"`{growth.name}` keeps the compiled function of every {growth.round.name}.",
                    label="each has graphs of its own, which stay in memory with it",
                    fix=_FUNCTION_FIX,
                )
        for node, repeated in source.traced_training():
            if not is_repaired(source):
                yield source.claim(
                    node,
                    f"A new `tf.function` is made and trained in every {repeated.name}: "
                    "TensorFlow's gradient registry keeps its graphs.",
                    label="is traced again each time, and its graphs stay in memory",
                    fix=_FUNCTION_FIX,
                )


def _told(made: Tally, evidence: Evidence) -> Claim:
    often = _words.often(made, evidence)
    if made.kind == tallies.FUNCTIONS:
        name = short_name(made)
        message = f"`{name}` becomes a new `tf.function` {often}."
        fix = "Define the function once, at the top level or before the loop."
        return Claim(message, made.where, name, fix)
    if made.kind == tallies.OPTIMIZERS:
        rate = _words.rise(made, "new optimizer", "new optimizers", evidence)
        fix = (
            "Create the optimizer once, before the loop. To change its learning rate, assign "
            "`optimizer.learning_rate`."
        )
        return Claim(f"The same model gets {rate}.", made.where, made.name, fix)
    return Claim(f"The same model is compiled {often}.", made.where, made.name)


def _compiled_again(source: "Source", call: "ast.Call") -> "Round | None":
    """The round that trains a model, and compiles it although it is older."""
    is_eager = any(one.arg == "run_eagerly" for one in call.keywords)
    if source.method_of(call, "model") != "compile" or is_eager or is_repaired(source):
        return None
    for one in source.rounds(call):
        is_same = source.is_older(source.receiver(call), one)
        if is_same and source.trains(one) and not source.happens_once(call, one):
            return one
    return None


def _is_made_here(growth: "SourceGrowth") -> bool:
    """Whether each round keeps another function."""
    behind = growth.source.calls_behind(growth.value, growth.round)
    wrappers = ("tensorflow.function", "jax.jit")
    return any(growth.source.calls_library(one, *wrappers) for one in behind)
