"""LW302 large-buffer."""

from lowwater.causes import _words
from lowwater.causes._cause import Account, Cause
from lowwater.causes._lines import datasets, grew
from lowwater.model import Evidence, Kind


class LargeBuffer(Cause):
    """A shuffle or prefetch buffer holds more than expected.

    `shuffle(n)` keeps `n` elements in memory, as they are at that point of the pipeline:
    behind `batch()` these are whole batches, behind decoding they are whole images.
    `prefetch(n)` likewise. The buffer fills once and stays; that is no leak, but it may be
    far more than you meant.

    Leaks:

        dataset = images.map(decode).batch(64).shuffle(10_000)

    Stays flat:

        dataset = paths.shuffle(10_000).map(decode).batch(64).prefetch(2)
    """

    code = "LW302"
    name = "large-buffer"
    fix = "Shuffle what is small, paths or indices, before decoding and batching it."
    is_mostly_native = True

    def in_rest(self, rest_bytes: int, evidence: Evidence) -> Account | None:  # noqa: ARG002
        """Ever more pipelines live, each with a buffer of its own."""
        more = next(
            (tally for tally in datasets(evidence, "Shuffle") if grew(tally, evidence)), None
        )
        if more is None:
            return None
        pace = _words.rise(more, "shuffled data set", "shuffled data sets", evidence)
        message = f"Ever more shuffle buffers are alive: {pace}."
        fix = "Build the pipeline once, before the loop, and iterate over it again."
        return Account(message, where=more.where, holder="Dataset.shuffle", fix=fix)

    def in_verdict(self, evidence: Evidence) -> Account | None:
        """A buffer that has filled."""
        buffers = datasets(evidence, "Shuffle")
        if not buffers or evidence.verdict.kind not in (Kind.CACHE, Kind.WARM_UP):
            return None
        message = "The buffer of `shuffle()` has filled, once; from then on memory is level."
        return Account(message, where=buffers[0].where, holder="Dataset.shuffle")
