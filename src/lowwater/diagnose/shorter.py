"""Fewer batches of what `fit` is given, so that an epoch is short."""

import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any

from lowwater.diagnose.inputs import kind_of_input
from lowwater.diagnose.loaders import loader_with
from lowwater.diagnose.py_datasets import first_batches

# ruff: noqa: ANN401 - the program's own data

# That of Keras, where the program names none.
_BATCH = 32
_STRUCTURES = (dict, list, tuple)


def shorter(data: Any, most_steps: int, steps: int | None, batch_size: int | None) -> Any:
    """The first batches; the same data where they are short, or how long they are is not known."""
    try:
        if _is_dataset(data):
            return _fewer_batches(data, most_steps, is_counted=steps is not None)
        if steps is not None:
            return data
        cut = _CUT_BY_KIND.get(kind_of_input(data))
        return cut(data, most_steps) if cut else _at_most(data, most_steps * (batch_size or _BATCH))
    except Exception:  # noqa: BLE001 - data of any kind; they are only cut to save time
        return data


def as_long_as(data: Any, x: Any) -> Any:
    """The labels that belong to what was left of the inputs."""
    wanted = rows_of(x)
    return data if wanted is None else _at_most(data, wanted)


def rows_of(data: Any) -> int | None:
    """How many rows arrays have, alone or in a structure; None for anything else."""
    if type(data) in _STRUCTURES:
        parts = data.values() if isinstance(data, dict) else data
        counts = {rows_of(part) for part in parts if part is not None}
        return counts.pop() if len(counts) == 1 else None
    shape = getattr(data, "shape", None)
    if shape is None or not len(shape) or not hasattr(type(data), "__getitem__"):
        return None
    return int(shape[0]) if shape[0] is not None else None


def _at_most(data: Any, most: int) -> Any:
    rows = rows_of(data)
    return data if rows is None or rows <= most else _first(data, most)


def _first(data: Any, rows: int) -> Any:
    if data is None:
        return None
    if isinstance(data, dict):
        return {name: _first(part, rows) for name, part in data.items()}
    if isinstance(data, list | tuple):
        return type(data)([_first(part, rows) for part in data])
    return data[:rows]


def _fewer_from_loader(loader: Any, most: int) -> Any:
    """Each epoch begins anew, in the order that the loader wants."""
    try:
        count = len(loader)
    except TypeError:
        # How long it is is not known; Keras does not ask.
        return loader_with(loader, lambda: itertools.islice(iter(loader), most), None)
    if count <= most:
        return loader
    return loader_with(loader, lambda: itertools.islice(iter(loader), most), most)


def _fewer_items(generator: Iterator[Any], most: int) -> Iterator[Any]:
    yield from itertools.islice(generator, most)


# Where no number of steps is given, and the data end themselves.
_CUT_BY_KIND: dict[str, Callable[[Any, int], Any]] = {
    "PyDataset": first_batches,
    "DataLoader": _fewer_from_loader,
    "generator": _fewer_items,
}


def _is_dataset(data: Any) -> bool:
    tensorflow: Any = sys.modules.get("tensorflow")
    return tensorflow is not None and isinstance(data, tensorflow.data.Dataset)


def _fewer_batches(dataset: Any, most_steps: int, *, is_counted: bool) -> Any:
    """One that ends has to end with the epoch, or every few epochs would be a short one."""
    count = int(dataset.cardinality())
    if count < 0 and is_counted:
        return dataset
    return dataset if 0 <= count <= most_steps else dataset.take(most_steps)
