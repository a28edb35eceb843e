"""LW108 waits-for-collector."""

from typing import TYPE_CHECKING

from lowwater.causes._cause import Cause, Claim
from lowwater.model import Evidence, Kind, Tally, tallies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lowwater.check.source import Source
    from lowwater.model.source import SourceClaim

# A collection always finds something.
_NOTICEABLE = 1 << 20


class WaitsForCollector(Cause):
    """Objects in reference cycles wait for the garbage collector.

    Python frees most objects at once, when their last reference goes away.
    Objects in a cycle (a Keras model is full of cycles) wait for Python's garbage collector.
    It counts objects, not bytes, so a few huge objects can wait for a long time.
    The memory is not lost: it comes back, but late.
    If the program has called `gc.disable()` or `gc.freeze()`, it may never come back.

    Leaks:

        gc.disable()
        for path in paths:
            model = keras.models.load_model(path)
            evaluate(model)

    Stays flat:

        for path in paths:
            model = keras.models.load_model(path)
            evaluate(model)
            del model
            gc.collect()

    Known problems:

        A program that switches the collector off and has no reference cycles is blamed, unless
        it uses `weakref`.
        Whether a batch has one sample is known only where its source says so: `x[None]`,
        `np.expand_dims(x, 0)`.

    Fix safety:

        There is no automatic fix: `model(x)` returns a tensor, not an array, and an array of
        batches needs another loop.

    Applies to:

        Keras 2 and 3, `tf.keras` and `tf_keras`, on every backend.
    """

    code = "LW108"
    name = "waits-for-collector"
    fix = "Call `gc.collect()` once per round, after the last use of large objects."
    words = ("gc.disable", "gc import", ".predict(")
    is_preview = True
    measured = "16 KB per call of `predict`, until garbage is collected"

    def in_rest(self, rest_bytes: int, evidence: Evidence) -> Claim | None:  # noqa: ARG002
        """Objects that were frozen round after round are out of the collector's reach."""
        frozen = _collector(evidence, "frozen")
        if frozen is None or not frozen.grew:
            return None
        more = f"{frozen.counts[-1] - frozen.counts[0]:,}"
        message = f"`gc.freeze()` hides {more} more objects from the garbage collector."
        return Claim(message, where=frozen.where, fix="Call `gc.freeze()` once, or not at all.")

    def in_verdict(self, evidence: Evidence) -> Claim | None:
        """Memory that falls when the collector runs, or a collector that is off."""
        enabled = _collector(evidence, "enabled")
        if enabled is not None and enabled.counts[-1] == 0:
            message = "The garbage collector is off: reference cycles stay until you call it."
            fix = "Call `gc.enable()`, or `gc.collect()` once per round."
            return Claim(message, where=enabled.where, fix=fix)
        # The program may also empty a list now and then: only an experiment tells.
        if evidence.verdict.kind is not Kind.SAWTOOTH or evidence.collected_bytes < _NOTICEABLE:
            return None
        message = (
            "Memory rises until Python's garbage collector runs, then falls: objects in "
            "reference cycles wait for it. Nothing is lost."
        )
        return Claim(message)

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """The collector is switched off for good, or `predict` is called for single samples."""
        for call in source.calls_of("disable"):
            if source.calls_library(call, "gc.disable") and not _is_made_up_for(source):
                yield source.claim(
                    call,
                    "Garbage collection is switched off and never on again.",
                    label="objects in reference cycles, such as Keras models, are never freed",
                    fix="Remove it, or call `gc.collect()` once per round.",
                )
        for call in source.calls_of("predict"):
            if source.method_of(call, "model") == "predict" and call.args:
                repeated = next(iter(source.rounds(call)), None)
                if repeated is not None and source.is_one_sample(call.args[0]):
                    model = source.text_of(source.receiver(call))
                    yield source.claim(
                        call,
                        f"`{model}.predict` is called with one sample in every {repeated.name}.",
                        label="each call leaves 16 KB that wait for the garbage collector",
                        fix=f"Call the model itself, `{model}(x)`, or predict all samples at once.",
                    )


def _collector(evidence: Evidence, name: str) -> Tally | None:
    found = (tally for tally in evidence.tallied(tallies.COLLECTOR) if tally.name == name)
    return next(found, None)


def _is_made_up_for(source: "Source") -> bool:
    """Whether garbage is collected by hand or later again, or cycles are avoided on purpose."""
    named = ("gc.enable", "gc.collect", "weakref.ref", "weakref.proxy")
    names = {one.rpartition(".")[2] for one in named}
    return any(source.calls_library(one, *named) for one in source.calls_of(*names))
