"""LW103 history-keeps-model."""

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._paths import below, is_programs, line_of, name_of, owners
from lowwater.model import Evidence, Holder

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
    """

    code = "LW103"
    name = "history-keeps-model"
    fix = "Keep the numbers, not the object: `runs.append(history.history)`."

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
