"""LW208 persistent-tape."""

from typing import TYPE_CHECKING

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._growth import growth_bytes, unexplained_bytes
from lowwater.causes._paths import line_of, name_of
from lowwater.model import Evidence, Holder, tallies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lowwater.check.source import Source
    from lowwater.model.source import SourceClaim

_RECORDS = (
    "A gradient tape records through all rounds: it keeps what every operation needs for its "
    "gradient."
)
_CLOSE = "Open a tape for each step, `with tf.GradientTape() as tape:`, and end the block."
# What a tape recorded is no Python object.
_MOSTLY = 0.5


class PersistentTape(Cause):
    """A `GradientTape` outlives its step.

    A tape records every operation, with its inputs and results, to compute gradients later.
    An ordinary tape drops the record with the first `gradient` call.
    A persistent tape keeps it until the tape itself is freed. So does a tape that never computes
    a gradient. In a list or an attribute, it keeps all activations of its step.

    Leaks:

        tapes = []
        for x, y in batches:
            with tf.GradientTape(persistent=True) as tape:
                loss = loss_of(model(x), y)
            gradients = tape.gradient(loss, model.trainable_variables)
            tapes.append(tape)

    Stays flat:

        for x, y in batches:
            with tf.GradientTape() as tape:
                loss = loss_of(model(x), y)
            gradients = tape.gradient(loss, model.trainable_variables)

    Known problems:

        A tape that stays open over several steps of a loop is found only when the program runs.

    Fix safety:

        There is no automatic fix: gradients that are taken from the tape later must be taken in
        its step.

    Applies to:

        TensorFlow 2.
    """

    code = "LW208"
    name = "persistent-tape"
    fix = (
        "Use the tape only inside its step, without `persistent=True`; otherwise `del tape` "
        "after the step."
    )
    is_mostly_native = True
    words = ("GradientTape",)
    measured = "860 KiB per iteration in the specimen of this rule"

    def claims(self, holder: Holder, evidence: Evidence) -> bool:
        """A tape lies on the path, or comes with each item where most of the growth is native."""
        if _is_on_path(holder):
            return True
        is_native = unexplained_bytes(evidence) > _MOSTLY * growth_bytes(evidence)
        return is_native and any(_kinds.is_tape(step) for step in holder.brings)

    def account(self, holder: Holder, evidence: Evidence) -> Claim:
        """Who keeps the tapes."""
        name = name_of(holder)
        message = f"`{name}` {_words.grows(holder, evidence)}, with everything the tape recorded."
        if not _is_on_path(holder):
            grows = _words.grows_by(holder, evidence)
            message = f"`{name}` {grows}. Each holds a gradient tape with everything it recorded."
        return Claim(message, where=line_of(holder), holder=name)

    def in_rest(self, rest_bytes: int, evidence: Evidence) -> Claim | None:  # noqa: ARG002
        """One tape has been recording all the time."""
        tapes = evidence.tallied(tallies.TAPES)
        open_one = next((tape for tape in tapes if tape.counts[-1] > 0), None)
        if open_one is None:
            return None
        return Claim(_RECORDS, where=open_one.where, fix=_CLOSE)

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """A tape is added to a container, or opened without a block that closes it."""
        for growth in source.growths:
            if source.leads_to(growth.value, "tape") is not None:
                yield source.claim(
                    growth.node,
                    f"`{growth.name}` keeps the tape of every {growth.round.name}.",
                    label="a tape keeps the inputs and results of all operations it has recorded",
                )
        for call in source.calls_of("__enter__"):
            tape = source.receiver(call)
            if "tape" in source.kinds(tape) and not any(source.calls_of("__exit__")):
                yield source.claim(
                    call,
                    f"`{source.text_of(tape)}` records from here on, and no block ends it.",
                    label="keeps the inputs and results of every operation that follows",
                    fix="Open it in a block for each step: `with tf.GradientTape() as tape:`.",
                )


def _is_on_path(holder: Holder) -> bool:
    return any(_kinds.is_tape(step) for step in holder.steps)
