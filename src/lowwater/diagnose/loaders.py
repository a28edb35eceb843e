"""Other batches from a `DataLoader` of torch, which Keras knows by its class."""

import copy
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

# ruff: noqa: ANN401 - loaders of the program


def loader_with(loader: Any, batches: Callable[[], Iterable[Any]], count: int | None) -> Any:
    """The loader, but for what it gives and how much that is; the program's own stays."""
    other = copy.copy(loader)
    base: type = type(loader)
    other.__class__ = _kind(base)
    other.batches, other.batch_count = batches, count
    return other


@functools.cache
def _kind(base: type) -> type:
    def iterate(loader: Any) -> Iterator[Any]:
        return iter(loader.batches())

    members = {"__iter__": iterate, "__len__": lambda loader: loader.batch_count}
    # Not ours: a census would look past what it holds.
    return type(base.__name__, (base,), {**members, "__module__": base.__module__})
