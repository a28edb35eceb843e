"""Input pipelines that give their first batch again and again."""

import functools
import itertools
from collections.abc import Callable, Hashable
from typing import Any

from lowwater.diagnose.again import Again, endlessly
from lowwater.diagnose.callers import line_of_the_program
from lowwater.diagnose.inputs import kind_of_input
from lowwater.diagnose.loaders import loader_with
from lowwater.diagnose.py_datasets import batches_of, one_batch

# ruff: noqa: ANN401 - data of the program

# A program with more kinds of data sets than this gives a new one in each round.
_MOST_KEPT = 8
# What seems endless counts as such; `fit` was given fewer steps before.
_MOST_BATCHES = 10_000


class Repeated:
    """Knows the batch that stands for each data set, and how long the others were."""

    def __init__(self) -> None:
        """No data were seen yet."""
        self._datasets: dict[Hashable, Any] = {}
        self._again = Again()

    def given(self, backend: str, argument: str, data: Any, steps: int | None) -> Any:
        """What `fit` is given instead: as long, of the same shapes, without the pipeline."""
        kind = kind_of_input(data)
        place = (argument, line_of_the_program())
        if kind == "tf.data":
            return self._dataset(data, place, is_counted=steps is not None)
        if kind == "PyDataset":
            return _of_py_dataset(data, backend)
        if kind == "generator":
            return endlessly(data) if steps is not None else self._again.of(data, place)
        if kind == "DataLoader":
            return self._loader(data, place)
        return data

    def iterated(self, dataset: Any, iterate: Callable[[Any], Any], place: Hashable) -> Any:
        """An iterator for a loop of the program itself; `iterate` is the real one."""
        key = (place, str(dataset.element_spec), int(dataset.cardinality()))
        count = key[-1] if key[-1] > _UNKNOWN else self._again.count_at(key)
        if count is None:
            return self._again.of(iterate(dataset), key)
        return iterate(self._kept(key, lambda: _of_tensors(iterate(dataset), count) or dataset))

    def _dataset(self, dataset: Any, place: Hashable, *, is_counted: bool) -> Any:
        """Made once for each place: to fill a shuffle takes many items of a generator."""
        count = int(dataset.cardinality())
        key = (place, str(dataset.element_spec), count)

        def make() -> Any:
            batches = iter(dataset)
            if count > _UNKNOWN or is_counted:
                return _of_tensors(batches, count) or dataset
            first = [*itertools.islice(batches, 1)]
            others = sum(1 for _ in itertools.islice(batches, _MOST_BATCHES))
            endless = others == _MOST_BATCHES
            return _of_tensors(iter(first), -1 if endless else 1 + others) or dataset

        return self._kept(key, make)

    def _kept(self, key: Hashable, make: Callable[[], Any]) -> Any:
        if key not in self._datasets:
            if len(self._datasets) == _MOST_KEPT:
                self._datasets.clear()
            self._datasets[key] = make()
        return self._datasets[key]

    def _loader(self, loader: Any, place: Hashable) -> Any:
        try:
            count = len(loader)
        except TypeError:
            return loader_with(loader, lambda: self._again.of(iter(loader), place), None)
        batch = [*itertools.islice(iter(loader), 1)]
        again = functools.partial(itertools.islice, itertools.cycle(batch), count)
        return loader_with(loader, again, count)


# What a data set of TensorFlow says of its length; -1 is no end.
_UNKNOWN = -2


def _of_tensors(batches: Any, count: int) -> Any:
    """A data set of one batch; None where there is none."""
    import tensorflow as tf

    first = next(batches, None)
    if first is None:
        return None
    return tf.data.Dataset.from_tensors(first).repeat(None if count < 0 else count)


def _of_py_dataset(data: Any, backend: str) -> Any:
    batch = _with_tuples(data[0])
    if backend == "tensorflow":
        # Keras would make a generator of TensorFlow's out of it, which is never let go.
        count = batches_of(data)
        return _of_tensors(iter([batch]), -1 if count is None else count)
    return one_batch(data, batch)


def _with_tuples(batch: Any) -> Any:
    """To TensorFlow a list is one tensor, to Keras it is several."""
    if isinstance(batch, dict):
        return {name: _with_tuples(part) for name, part in batch.items()}
    if isinstance(batch, list | tuple):
        return tuple(_with_tuples(part) for part in batch)
    return batch
