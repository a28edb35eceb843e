"""LW101 callback-retention."""

from typing import TYPE_CHECKING

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._paths import line_of, name_of, owners
from lowwater.model import Evidence, Holder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lowwater.check.source import Source
    from lowwater.model.source import SourceClaim


class CallbackRetention(Cause):
    """A callback keeps data of every epoch or batch.

    A callback lives as long as the `fit` call that uses it, and often longer.
    What it appends to one of its attributes stays in memory until then:
    one array of predictions per epoch is small at first, but adds up to gigabytes.
    Keep numbers, or write the arrays to a file.

    Leaks:

        class SavePredictions(keras.callbacks.Callback):
            def __init__(self, data):
                super().__init__()
                self.data = data
                self.saved = []

            def on_epoch_end(self, epoch, logs=None):
                self.saved.append(self.model.predict(self.data, verbose=0))

    Stays flat:

        class SavePredictions(keras.callbacks.Callback):
            def __init__(self, data):
                super().__init__()
                self.data = data
                self.means = []

            def on_epoch_end(self, epoch, logs=None):
                predictions = self.model.predict(self.data, verbose=0)
                self.means.append(float(predictions.mean()))

    Known problems:

        What a method of another class, or of another file, empties is not seen.
        A value from a library that `lowwater check` does not know is not taken for an array.

    Fix safety:

        There is no automatic fix: what to keep instead is for you to decide.

    Applies to:

        Keras 2 and 3, `tf.keras` and `tf_keras`, on every backend.
    """

    code = "LW101"
    name = "callback-retention"
    fix = (
        "Keep a summary, not the data: `self.means.append(float(predictions.mean()))`; "
        "or write each array to a file with `np.save`."
    )
    words = ("Callback", "on_epoch_", "_batch_")
    measured = "4.0 MiB per epoch in the specimen of this rule"

    def claims(self, holder: Holder, evidence: Evidence) -> bool:  # noqa: ARG002
        """A callback has the container, itself or through objects of its own."""
        for owner in owners(holder):
            if _kinds.is_callback(owner):
                return True
            # What a model or a pipeline keeps is not the callback's, though it can reach them.
            if _kinds.is_native_backed(owner) or _kinds.is_sequence(owner):
                return False
        return False

    def account(self, holder: Holder, evidence: Evidence) -> Claim:
        """Which attribute grows, and by what."""
        name = name_of(holder)
        message = f"`{name}` {_words.grows(holder, evidence)}."
        return Claim(message, where=line_of(holder), holder=name)

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """A callback adds arrays or models to a container in each of its rounds."""
        for growth in source.growths:
            if growth.is_in_callback and (growth.is_heavy or growth.keeps_model):
                yield source.claim(
                    growth.node,
                    f"`{growth.name}` keeps {growth.what} of every {growth.callback_round}.",
                    label=f"{growth.one} per {growth.callback_round}, {growth.how_long}",
                )
