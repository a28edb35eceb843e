"""LW302 large-buffer."""

import ast
from typing import TYPE_CHECKING

from lowwater.causes import _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._lines import datasets, filled, grew
from lowwater.model import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lowwater.check.pipelines import SourcePipeline
    from lowwater.check.source import Source
    from lowwater.model.source import SourceClaim

# After these, elements are other ones than before, or are kept anyway: a cache and a buffer
# share them.
_OTHERS = ("cache", "unbatch", "flat_map", "interleave", "window", "apply", "snapshot")
_BATCHING = ("batch", "padded_batch", "ragged_batch")
_BATCHED_SOURCES = (
    "keras.utils.image_dataset_from_directory", "keras.utils.text_dataset_from_directory",
    "keras.utils.audio_dataset_from_directory", "keras.utils.timeseries_dataset_from_array",
    "keras.preprocessing.image_dataset_from_directory",
    "keras.preprocessing.text_dataset_from_directory",
    "keras.preprocessing.timeseries_dataset_from_array",
)  # fmt: skip
_BATCHED_FIX = "Shuffle before you batch: `shuffle(n).batch(size)`."
_DECODED_FIX = "Put `shuffle()` before the `map`, where elements are still small."


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

    Known problems:

        How large an element is cannot be read: a buffer of small batches is found as well.
        A batch that is batched again counts as one element, such as a window of a text.

    Fix safety:

        There is no automatic fix: shuffling earlier changes the order of the elements.

    Applies to:

        TensorFlow 2.
    """

    code = "LW302"
    name = "large-buffer"
    fix = "Shuffle small items, such as paths or indices, before you decode and batch them."
    is_mostly_native = True
    words = (".shuffle(",)
    measured = "52.7 MiB, once, in the specimen of this rule"

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

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """`shuffle()` after `batch()`, or after a `map` that reads or decodes files."""
        windows = _batched_again(source)
        for shuffle, before in source.steps_of("shuffle"):
            size = shuffle.given("buffer_size")
            if size is None or _is_one(size):
                continue
            is_window = shuffle.call in windows
            if not is_window and all(_is_batched(source, way) for way in before):
                yield source.claim(
                    shuffle,
                    f"`shuffle()` comes after `batch()`: its buffer holds {_many(source, size)} "
                    "whole batches.",
                    label="shuffles the order of batches, not what is in them",
                    fix=_BATCHED_FIX,
                )
            elif all(_is_decoded(source, way) for way in before):
                yield source.claim(
                    shuffle,
                    f"`shuffle()` comes after a `map` that decodes: its buffer holds "
                    f"{_many(source, size)} decoded elements.",
                    label="stays in memory while the data set is read",
                    fix=_DECODED_FIX,
                )


def _batched_again(source: "Source") -> set[ast.Call]:
    """The shuffles whose elements are batched later: what was batched before are their windows."""
    return {
        step.call
        for name in _BATCHING
        for _, before in source.steps_of(name)
        for way in before
        for step in way.steps
        if step.name == "shuffle"
    }


def _is_one(size: ast.expr) -> bool:
    return isinstance(size, ast.Constant) and size.value in (0, 1)


def _many(source: "Source", size: ast.expr) -> str:
    """The size of the buffer as a reader calls it: `2,000`, or the name that it has."""
    if isinstance(size, ast.Constant) and isinstance(size.value, int):
        return f"{size.value:,}"
    return f"`{source.text_of(size)}`"


def _is_batched(source: "Source", way: "SourcePipeline") -> bool:
    for step in way.steps:
        if step.name in _OTHERS:
            return False
        if step.name in _BATCHING:
            size = step.given("batch_size")
            return size is None or not _is_one(size)
    start = way.start
    if not isinstance(start, ast.Call) or not source.calls_library(start, *_BATCHED_SOURCES):
        return False
    sizes = [one.value for one in start.keywords if one.arg == "batch_size"]
    return not any(isinstance(one, ast.Constant) and one.value is None for one in sizes)


def _is_decoded(source: "Source", way: "SourcePipeline") -> bool:
    for step in way.steps:
        if step.name in _OTHERS:
            return False
        given = step.given("map_func")
        if step.name == "map" and given is not None and source.decodes(given):
            return True
    return False
