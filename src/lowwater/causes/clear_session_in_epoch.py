"""LW206 clear-session-in-epoch."""

from typing import TYPE_CHECKING

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._lines import grown, has_one_model
from lowwater.model import Evidence, Holder, Tally, tallies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lowwater.check.rounds import Round
    from lowwater.check.source import Source
    from lowwater.model.source import SourceClaim

_CLEAR = "clear_session"
# Calls for each model. One before and one after it are the usual way between models.
_SEVERAL = 3

_CLEARS = ("keras.utils.clear_session", "keras.backend.clear_session")
_USES = ("fit", "train_on_batch", "evaluate", "predict", "fit_generator")


class ClearSessionInEpoch(Cause):
    """`clear_session()` is called while the model is still in use.

    `clear_session()` resets the global state of Keras and TensorFlow.
    It frees nothing of a model that is still in use: the model keeps its weights and graphs.
    Called in every epoch, it only costs time, because all caches must be filled again.
    Traced functions that use `tf.random` repeat the same numbers after each call,
    so dropout or noise is the same in every epoch.
    With Keras 3.15 and TensorFlow 2.21 the memory lost is 3 to 4 KB per call.
    Lowwater reports it whether or not the program leaks. It counts as a part of the growth only
    if the number of live graphs grows meanwhile.

    Looks like a leak:

        for epoch in range(100):
            model.fit(x, y, epochs=1)
            keras.utils.clear_session()

    Stays flat:

        model.fit(x, y, epochs=100)
        del model
        keras.utils.clear_session()

    Known problems:

        A model that the loop gets from a helper of another library is not seen to be the same
        one.

    Fix safety:

        There is no automatic fix: the numbers that `tf.random` draws change without the call.

    Applies to:

        Keras 2 and 3, `tf.keras` and `tf_keras`, on every backend.
    """

    code = "LW206"
    name = "clear-session-in-epoch"
    fix = "Call `clear_session()` only between models, after the last use of the old model."
    is_mostly_native = True
    words = ("clear_session",)

    def claims(self, holder: Holder, evidence: Evidence) -> bool:
        """The library holds ever more graphs, and the state is cleared under one model."""
        has_graph = any(_kinds.is_v1_graph(s) or _kinds.is_traced_graph(s) for s in holder.steps)
        return has_graph and not holder.is_users and _cleared(evidence) is not None

    def account(self, holder: Holder, evidence: Evidence) -> Claim:  # noqa: ARG002
        """How often it is called, and where."""
        cleared = _cleared(evidence)
        assert cleared is not None, "claimed because of it"
        often = _words.often(cleared, evidence)
        message = f"`clear_session()` is called {often} while the same model is being trained."
        return Claim(message, where=cleared.where)

    def beside(self, codes: frozenset[str], evidence: Evidence) -> Claim | None:
        """A mistake of its own, whatever it is that leaks."""
        return None if self.code in codes else _under_a_model(evidence)

    def in_verdict(self, evidence: Evidence) -> Claim | None:
        """And where nothing leaks."""
        return _under_a_model(evidence)

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """The state of Keras is cleared in a callback, or in the loop that trains one model."""
        for call in source.calls_of("clear_session"):
            if not source.calls_library(call, *_CLEARS):
                continue
            used = next(filter(None, (_used(source, one) for one in source.rounds(call))), None)
            if used is not None:
                yield source.claim(
                    call,
                    f"`clear_session()` is called in every {used[1].name} while {used[0]} is "
                    "still in use.",
                    label="frees nothing of a model in use; its random numbers may repeat",
                )


def _under_a_model(evidence: Evidence) -> Claim | None:
    """One line clears the state several times for each model that is made."""
    calls = evidence.tallied(tallies.CALLS)
    made = sum(one.counts[-1] for one in calls if one.name == tallies.MODEL)
    cleared = max(
        (one for one in calls if one.name.lstrip("_") == _CLEAR and one.where),
        key=lambda one: one.counts[-1],
        default=None,
    )
    if cleared is None or not made or cleared.counts[-1] < _SEVERAL * made:
        return None
    message = (
        f"`clear_session()` is called {cleared.counts[-1]:,} times while a model is in use. It "
        "frees nothing of that model, and functions that use `tf.random` repeat the same numbers "
        "after each call."
    )
    return Claim(message, where=cleared.where)


def _cleared(evidence: Evidence) -> Tally | None:
    return grown(evidence, tallies.CALLS, _CLEAR) if has_one_model(evidence) else None


def _used(source: "Source", repeated: "Round") -> "tuple[str, Round] | None":
    """The model that a round uses and has not made, with the round; None if there is none."""
    if not repeated.is_loop:
        return "the model", repeated
    if any(source.makes(call, "model") for call in source.reached(repeated.node)):
        return None
    for call in source.reached(repeated.node):
        model = source.receiver(call)
        if source.method_of(call, "model") in _USES and source.is_older(model, repeated):
            return f"`{source.text_of(model)}`", repeated
    return None
