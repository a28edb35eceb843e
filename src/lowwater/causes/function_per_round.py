"""LW207 function-per-round."""

from dataclasses import replace

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._lines import grew, remade, short_name
from lowwater.causes.gradient_registry import is_in_registry
from lowwater.model import Evidence, Holder, Tally, tallies


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
    """

    code = "LW207"
    name = "function-per-round"
    fix = (
        "Compile the model once, before the loop. To change the learning rate, assign "
        "`optimizer.learning_rate`."
    )
    is_mostly_native = True

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
