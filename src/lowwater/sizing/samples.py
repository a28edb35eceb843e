"""Samples of the user's data, whatever they come in, as plain arrays that any batch is made of."""

import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import GeneratorType
from typing import Any

import numpy as np

from lowwater.errors import UsageError

# ruff: noqa: ANN401 - arrays, tensors and trees of them are the user's

# Samples, and bytes: data sets are read until there are so many of either; repeating them makes the
# larger batches. Guesses.
_ENOUGH = 256
_MOST_BYTES = 256 << 20
_PARTS = ("x", "y", "sample_weight")


@dataclass(frozen=True, slots=True)
class Samples:
    """The first samples, as trees of arrays whose first dimension counts them.

    `parts` are the inputs, and as far as there are any the targets and the sample weights.
    """

    parts: tuple[Any, ...]
    count: int
    # What the data came in: "arrays", "a tf.data.Dataset" ...
    source: str
    # The batch size that the user's own data set has.
    own_batch: int | None = None

    @property
    def sample_bytes(self) -> int:
        """Of one sample, all parts together."""
        sizes = (int(leaf.nbytes) for part in self.parts for leaf in leaves(part))
        return sum(sizes) // self.count

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Of one sample of each input."""
        return {name: leaf.shape[1:] for name, leaf in named_leaves(self.parts[0])}


def samples_of(x: Any, y: Any = None, sample_weight: Any = None) -> Samples:
    """Take the first samples of anything that `fit` takes."""
    tensorflow: Any = sys.modules.get("tensorflow")
    if tensorflow is not None and isinstance(x, tensorflow.data.Dataset):
        return _of_batches(iter(x), "a tf.data.Dataset")
    if _is_py_dataset(x):
        return _of_batches(_items_of(x), f"a {type(x).__name__}")
    if isinstance(x, GeneratorType) or (isinstance(x, Iterator) and not hasattr(x, "shape")):
        return _of_batches(x, "a generator")
    if _is_loader(x):
        return _of_batches(iter(x), f"a {type(x).__name__}")
    return _of_arrays(x, y, sample_weight)


def _of_arrays(x: Any, y: Any, sample_weight: Any) -> Samples:
    if x is None:
        raise UsageError(
            "there is no data to build a batch from",
            received="x=None",
            advice="lowwater.footprint(model, x, y, batch_size=64)",
        )
    given = {"x": x, "y": y, "sample_weight": sample_weight}
    parts = tuple(_tree(name, given[name]) for name in _PARTS if given[name] is not None)
    if y is None and sample_weight is not None:
        raise UsageError("sample_weight without y", advice="pass y as well")
    counts = {len(leaf) for part in parts for leaf in leaves(part)}
    if len(counts) != 1:
        told = ", ".join(
            f"{name}: {len(leaf)}"
            for name, part in zip(_PARTS, parts, strict=False)
            for leaf in leaves(part)
        )
        raise UsageError("the arrays have different numbers of samples", received=told)
    return _samples(parts, min(counts), "arrays")


def _tree(name: str, given: Any) -> Any:
    def leaf(value: Any) -> Any:
        array = as_array(value)
        if array.ndim == 0:
            raise UsageError(
                f"{name} has no dimension that counts samples", received=repr(value)[:80]
            )
        return array[:_ENOUGH]

    return mapped(leaf, given if not _is_list_of_numbers(given) else np.asarray(given))


def _of_batches(batches: Iterable[Any], source: str) -> Samples:
    """Read until there are enough; what comes in parts is put together again."""
    taken: list[tuple[Any, ...]] = []
    count = size = 0
    own_batch: int | None = None
    for batch in batches:
        parts = tuple(mapped(as_array, part) for part in _unpacked(batch) if part is not None)
        sizes = {leaf.shape[0] if leaf.ndim else -1 for part in parts for leaf in leaves(part)}
        if len(sizes) != 1 or min(sizes) < 0:
            raise _not_rebatched(source, parts)
        [now] = sizes
        own_batch = own_batch or now
        taken.append(parts)
        count += now
        size += sum(leaf.nbytes for part in parts for leaf in leaves(part))
        if count >= _ENOUGH or size >= _MOST_BYTES:
            break
    if not count:
        raise UsageError(f"{source} gave no batch: the data is empty", received="0 samples")
    try:
        parts = tuple(_joined([*column]) for column in zip(*taken, strict=True))
    except ValueError:
        raise _not_rebatched(source, taken[0]) from None
    return _samples(parts, count, source, own_batch)


def _samples(
    parts: tuple[Any, ...], count: int, source: str, own_batch: int | None = None
) -> Samples:
    if not count:
        raise UsageError("there is no data to build a batch from", received="0 samples")
    return Samples(parts, count if source != "arrays" else min(count, _ENOUGH), source, own_batch)


def _not_rebatched(source: str, parts: Any) -> UsageError:
    shapes = ", ".join(str(leaf.shape) for part in parts for leaf in leaves(part))
    return UsageError(
        f"the batches of {source} cannot be combined into other batch sizes: "
        "their samples have different shapes, or their first dimension does not count samples",
        received=f"arrays of shape {shapes}",
        advice="pass arrays of a few samples: lowwater.footprint(model, x, y)",
    )


def _joined(column: list[Any]) -> Any:
    """The same part of several batches; sequences are padded as the longest are."""
    first = column[0]
    if isinstance(first, Mapping):
        return {name: _joined([one[name] for one in column]) for name in first}
    if isinstance(first, tuple | list):
        return type(first)(_joined([one[at] for one in column]) for at in range(len(first)))
    longest = [max(sizes) for sizes in zip(*(one.shape[1:] for one in column), strict=True)]
    return np.concatenate([_padded(one, longest) for one in column])


def _padded(array: Any, longest: list[int]) -> Any:
    widths = [
        (0, 0),
        *((0, most - now) for most, now in zip(longest, array.shape[1:], strict=True)),
    ]
    return np.pad(array, widths) if any(after for _, after in widths) else array


def _unpacked(batch: Any) -> tuple[Any, ...]:
    if isinstance(batch, tuple) and 1 <= len(batch) <= len(_PARTS):
        return batch
    if isinstance(batch, list) and len(batch) == 2:  # noqa: PLR2004 - as loaders of torch give them
        return tuple(batch)
    return (batch,)


def _items_of(data: Any) -> Iterator[Any]:
    try:
        count = len(data)
    except (TypeError, NotImplementedError):
        count = None
    numbers = itertools.count() if count is None else range(count)
    return (data[number] for number in numbers)


def _is_py_dataset(x: Any) -> bool:
    keras: Any = sys.modules.get("keras")
    kinds = getattr(getattr(keras, "utils", None), "PyDataset", None)
    return kinds is not None and isinstance(x, kinds)


def _is_loader(x: Any) -> bool:
    torch: Any = sys.modules.get("torch")
    data = getattr(getattr(torch, "utils", None), "data", None)
    return data is not None and isinstance(x, data.DataLoader)


def _is_list_of_numbers(given: Any) -> bool:
    return isinstance(given, list) and bool(given) and all(np.ndim(one) == 0 for one in given)


def as_array(value: Any) -> Any:
    """Of an array, a tensor, or what pandas has; ragged and sparse tensors become dense."""
    for name in ("to_tensor", "todense"):
        if hasattr(value, name) and not hasattr(value, "__array__"):
            return as_array(getattr(value, name)())
    if hasattr(value, "dense_shape"):
        return as_array(sys.modules["tensorflow"].sparse.to_dense(value))
    if hasattr(value, "detach"):
        return value.detach().cpu().numpy()
    return np.asarray(value)


def mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    """The same tree with every leaf changed."""
    if isinstance(tree, Mapping):
        return {name: mapped(function, one) for name, one in tree.items()}
    if isinstance(tree, tuple | list):
        return type(tree)(mapped(function, one) for one in tree)
    return function(tree)


def leaves(tree: Any) -> Iterator[Any]:
    """All arrays of a tree."""
    for _, leaf in named_leaves(tree):
        yield leaf


def named_leaves(tree: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """All arrays of a tree, each with the way to it."""
    if isinstance(tree, Mapping):
        for key, one in tree.items():
            yield from named_leaves(one, f"{name}.{key}" if name else str(key))
    elif isinstance(tree, tuple | list):
        for number, one in enumerate(tree):
            yield from named_leaves(one, f"{name}[{number}]" if name else str(number))
    else:
        yield name, tree
