"""Fewer batches of what `fit` is given, so that an epoch is short."""

import sys
from typing import Any

# ruff: noqa: ANN401 - the program's own data

# That of Keras, where the program names none.
_BATCH = 32
_STRUCTURES = (dict, list, tuple)


def shorter(data: Any, most_steps: int, steps: int | None, batch_size: int | None) -> Any:
    """The first batches; the same data where they are short, or how long they are is not known."""
    try:
        if _is_dataset(data):
            return _fewer_batches(data, most_steps, is_counted=steps is not None)
        return data if steps is not None else _at_most(data, most_steps * (batch_size or _BATCH))
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


def _is_dataset(data: Any) -> bool:
    tensorflow: Any = sys.modules.get("tensorflow")
    return tensorflow is not None and isinstance(data, tensorflow.data.Dataset)


def _fewer_batches(dataset: Any, most_steps: int, *, is_counted: bool) -> Any:
    """One that ends has to end with the epoch, or every few epochs would be a short one."""
    count = int(dataset.cardinality())
    if count < 0 and is_counted:
        return dataset
    return dataset if 0 <= count <= most_steps else dataset.take(most_steps)
