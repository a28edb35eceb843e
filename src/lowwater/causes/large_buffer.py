"""LW302 large-buffer."""

from lowwater.causes import _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._lines import datasets, filled, grew
from lowwater.model import Evidence


class LargeBuffer(Cause):
    """A shuffle or prefetch buffer holds more than expected.

    `shuffle(n)` keeps `n` elements in memory, as they are at that point of the pipeline:
    after `batch()` these are whole batches, after decoding they are whole images.
    `prefetch(n)` does the same. The buffer fills once and stays. This is not a leak, but it may
    be far more than you expect.

    Leaks:

        dataset = images.map(decode).batch(64).shuffle(10_000)

    Stays flat:

        dataset = paths.shuffle(10_000).map(decode).batch(64).prefetch(2)
    """

    code = "LW302"
    name = "large-buffer"
    fix = "Shuffle small items, such as paths or indices, before you decode and batch them."
    is_mostly_native = True

    def in_rest(self, rest_bytes: int, evidence: Evidence) -> Claim | None:  # noqa: ARG002
        """Ever more pipelines live, each with a buffer of its own."""
        more = next(
            (tally for tally in datasets(evidence, "Shuffle") if grew(tally, evidence)), None
        )
        if more is None:
            return None
        rate = _words.rise(more, "shuffled data set", "shuffled data sets", evidence)
        message = f"The number of live shuffle buffers grows: {rate}."
        fix = "Build the pipeline once, before the loop, and iterate over it again."
        return Claim(message, where=more.where, holder="Dataset.shuffle", fix=fix)

    def in_verdict(self, evidence: Evidence) -> Claim | None:
        """A buffer that has filled."""
        buffer = filled(datasets(evidence, "Shuffle"), evidence)
        if buffer is None:
            return None
        message = "The `shuffle()` buffer filled once and no longer grows."
        return Claim(message, where=buffer.where, holder="Dataset.shuffle")
