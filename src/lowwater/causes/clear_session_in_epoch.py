"""LW206 clear-session-in-epoch."""

from lowwater import tallies
from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Account, Cause
from lowwater.causes._lines import grown, has_one_model
from lowwater.model import Evidence, Holder, Tally


class ClearSessionInEpoch(Cause):
    """`clear_session()` is called while the model is still in use.

    `clear_session()` makes Keras and TensorFlow forget their global state and start anew.
    It frees nothing of a model that goes on living: the model keeps its weights and graphs.
    Called in every epoch it only costs time, for all caches have to be filled again.
    With Keras 3.15 and TensorFlow 2.21 the memory lost is 3 to 4 KB per call, too little to
    matter; this is reported only where ever more graphs are seen to stay alive meanwhile.

    Looks like a leak:

        for epoch in range(100):
            model.fit(x, y, epochs=1)
            keras.utils.clear_session()

    Stays flat:

        model.fit(x, y, epochs=100)
        del model
        keras.utils.clear_session()
    """

    code = "LW206"
    name = "clear-session-in-epoch"
    fix = "Call `clear_session()` only between models, after the last use of the old one."
    is_mostly_native = True

    def claims(self, holder: Holder, evidence: Evidence) -> bool:
        """The library holds ever more graphs, and the state is cleared under one model."""
        has_graph = any(_kinds.is_v1_graph(s) or _kinds.is_traced_graph(s) for s in holder.steps)
        return has_graph and not holder.is_users and _cleared(evidence) is not None

    def account(self, holder: Holder, evidence: Evidence) -> Account:  # noqa: ARG002
        """How often it is called, and where."""
        cleared = _cleared(evidence)
        assert cleared is not None, "claimed because of it"
        often = _words.often(cleared, evidence)
        message = f"`clear_session()` is called {often} while the same model is trained on."
        return Account(message, where=cleared.where)


def _cleared(evidence: Evidence) -> Tally | None:
    return grown(evidence, tallies.CALLS, "clear_session") if has_one_model(evidence) else None
