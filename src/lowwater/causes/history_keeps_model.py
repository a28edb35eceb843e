"""LW103 history-keeps-model."""

from typing import TYPE_CHECKING

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._paths import below, is_programs, line_of, name_of, owners
from lowwater.model import Evidence, Holder

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from lowwater.check.source import Source
    from lowwater.check.source_growth import SourceGrowth
    from lowwater.model.source import SourceClaim

_CALLBACK_FIX = "Keep the numbers, such as `best.append(stopper.best)`, not the callback object."


class HistoryKeepsModel(Cause):
    """Kept `History` objects keep whole models alive.

    `fit` returns a `History`, which looks like a table of numbers.
    But it is a callback, and every callback has an attribute `model`:
    if you keep the object, you keep the model, its optimizer and its graphs.
    The numbers alone are in `history.history`, a plain dict.

    Leaks:

        runs = []
        for fold in range(10):
            model = build_model()
            runs.append(model.fit(x, y, epochs=5))

    Stays flat:

        runs = []
        for fold in range(10):
            model = build_model()
            runs.append(model.fit(x, y, epochs=5).history)

    Known problems:

        A list comprehension of `fit` calls is not seen.
        If the model itself is kept beside its history, LW201 reports it.

    Fix safety:

        There is no automatic fix: the program may read `history.params` or `history.epoch`,
        which the numbers do not have.

    Applies to:

        Keras 2 and 3, `tf.keras` and `tf_keras`, on every backend.
    """

    code = "LW103"
    name = "history-keeps-model"
    fix = "Keep the numbers, not the object: `runs.append(history.history)`."
    words = (".fit(", ".fit_generator(")
    words_beside = (".append", ".add(", "] =", ".setdefault", "+=", ".update(", ".insert(")
    measured = "1.0 MiB per iteration in the specimen of this rule"

    def claims(self, holder: Holder, evidence: Evidence) -> bool:  # noqa: ARG002
        """New items are histories, or callbacks of another kind; or a history itself grows."""
        kept = any(_kinds.is_callback(step) for step in below(holder)[:3])
        return is_programs(holder) and (
            kept or any(_kinds.is_history(one) for one in owners(holder))
        )

    def account(self, holder: Holder, evidence: Evidence) -> Claim:
        """Who keeps the histories, and what they keep in turn."""
        name, where = name_of(holder), line_of(holder)
        kept = next((step for step in below(holder) if _kinds.is_callback(step)), None)
        if kept is None:
            message = f"`{name}` {_words.grows(holder, evidence)}: the logs of `fit` hold data."
            return Claim(message, where, name, "Log numbers: return `float(value)` as a metric.")
        one = f"`{_kinds.class_name(kept.type)}`"
        rate = _words.rate(holder.counts, f"{one} object", f"{one} objects", evidence)
        message = f"`{name}` grows by {rate}, and each keeps its whole model through `.model`."
        fix = None if _kinds.is_history(kept) else _CALLBACK_FIX
        return Claim(message, where=where, holder=name, fix=fix)

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """The `History` of a model that each round makes is added to a container."""
        for growth in source.growths:
            # Who keeps the model itself as well is told so by LW201.
            is_history = "history" in growth.kinds and "model" not in growth.kinds
            if is_history and not growth.is_in_callback and _has_new_model(growth):
                yield source.claim(
                    growth.node,
                    f"`{growth.name}` keeps the `History` of every {growth.round.name}, and with "
                    "it the whole model.",
                    label="its `.model` keeps weights, optimizer and graphs in memory",
                    fix=f"Keep the numbers, not the object: `{_numbers(growth)}`.",
                )


def _has_new_model(growth: "SourceGrowth") -> bool:
    """Whether the model that was fitted is another one in each round."""
    source, repeated = growth.source, growth.round
    for call in source.calls_behind(growth.value, repeated):
        is_fit = source.method_of(call, "model") is not None
        fitted = [source.receiver(call)] if is_fit else call.args
        if any(source.is_new(one, repeated, "model") for one in fitted):
            return True
        if not is_fit and _makes_inside(source, call):
            return True
    return False


def _makes_inside(source: "Source", call: "ast.Call") -> bool:
    """Whether a helper that gives a history makes the model of it."""
    return any(
        True
        for thing in source.things(call.func)
        if thing.scope is not None and thing.scope.is_function
        for _ in source.made_inside(thing.scope, "model")
    )


def _numbers(growth: "SourceGrowth") -> str:
    """The same statement, with the numbers in the history."""
    kept = growth.source.text_of(growth.value)
    # The value stands last; its letters may also be in the name of the container.
    before, _, after = growth.source.text_of(growth.node).rpartition(kept)
    return f"{before}{kept}.history{after}"
