"""One repeated batch in the place of the input pipeline."""

import itertools
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from lowwater.experiments.change import Change
from lowwater.experiments.factors._factor import Factor
from lowwater.experiments.facts import Facts
from lowwater.experiments.look import kind_of_input
from lowwater.experiments.one_pipeline import reuse_pipelines

_PIPELINES = frozenset({"tf.data", "PyDataset", "generator"})


class OneBatch(Factor):
    """The first batch again and again: the same shapes, the same number of steps."""

    key = "one-batch"
    name = "with one repeated batch"
    cleared = "not the input pipeline"
    blamed = "the input pipeline"
    codes = ("LW301", "LW302", "LW303", "LW304")
    rejects = ("LW303",)
    covers = ("buffers",)

    def why_not(self, facts: Facts) -> str | None:
        """Arrays are no pipeline."""
        if not facts.fits:
            return "the program does not call fit"
        if facts.backend != "tensorflow":
            return f"only for the TensorFlow backend (here: {facts.backend})"
        return None if _PIPELINES & {*facts.inputs} else "fit is given arrays"

    def apply(self, change: Change, detail: str) -> None:  # noqa: ARG002
        """Where `fit` takes its data from; a line that makes pipelines makes one."""
        change.when_imported("tensorflow", reuse_pipelines)

        def place(keras: ModuleType) -> None:
            change.rebind(keras.Model.fit, "x", repeated)
            change.rebind(keras.Model.fit, "validation_data", repeated)

        for library in ("keras", "tf_keras"):
            change.when_imported(library, place)


def repeated(x: Any) -> Any:  # noqa: ANN401
    """The first batch of a pipeline as one that is as long; anything else as it is."""
    import tensorflow as tf

    if isinstance(x, tf.data.Dataset):
        steps = int(x.cardinality())
        first = next(iter(x), None)
        count = _count(x) if steps == tf.data.UNKNOWN_CARDINALITY else steps
        if first is None or count == 0:
            return x
        return tf.data.Dataset.from_tensors(first).repeat(None if count < 0 else count)
    kind = kind_of_input(x)
    if kind == "PyDataset":
        count = getattr(x, "num_batches", None) or len(x)
        return tf.data.Dataset.from_tensors(x[0]).repeat(count)
    # Keras takes nothing else that is called by `next`, and a program that does cannot fit it.
    return _again_and_again(x) if kind == "generator" else x


def _again_and_again(generator: Iterator[Any]) -> Iterator[Any]:
    first = next(generator)
    while True:
        yield first


def _count(dataset: Any) -> int:  # noqa: ANN401
    """How long a data set is that does not say; one that seems endless counts as such."""
    most = 10_000
    count = sum(1 for _ in itertools.islice(dataset, most))
    return -1 if count == most else count
