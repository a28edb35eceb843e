"""Other batches from a `PyDataset` of Keras, or a `Sequence` of the legacy one."""

import functools
from typing import Any

from lowwater.diagnose.callers import OF_LIBRARIES
from lowwater.model.frameworks import PY_DATASETS, package_of

# ruff: noqa: ANN401 - data of the program

# How many threads prepare batches, and how many of them wait.
_SETTINGS = ("workers", "use_multiprocessing", "max_queue_size")


def batches_of(data: Any) -> int | None:
    """Its length; None is no end."""
    return data.num_batches if hasattr(type(data), "num_batches") else len(data)


def one_batch(data: Any, batch: Any) -> Any:
    """One that is as long and gives the same batch always; it keeps nothing else."""
    one = _one_batch(library_base(type(data)))()
    one.batch, one.count = batch, batches_of(data)
    return one


def first_batches(data: Any, most: int) -> Any:
    """The same without what comes behind; as it is where other processes have to know it."""
    count = batches_of(data)
    if count is None or count <= most or getattr(data, "use_multiprocessing", False):
        return data
    first = _first_batches(library_base(type(data)))()
    first.whole, first.count = data, most
    for name in _SETTINGS:
        if hasattr(data, name):
            setattr(first, name, getattr(data, name))
    return first


def library_base(kind: type) -> type:
    """The class of the library that one of the program extends."""
    return next(
        one
        for one in kind.__mro__
        if one.__name__ in PY_DATASETS and package_of(one.__module__) in OF_LIBRARIES
    )


def _counted(base: type) -> dict[str, Any]:
    """The legacy Keras asks for the length only."""
    length = {"__len__": lambda self: self.count}
    is_new = hasattr(base, "num_batches")
    return {"num_batches": property(lambda self: self.count)} if is_new else length


@functools.cache
def _one_batch(base: type) -> type:
    members = {"__getitem__": lambda self, _: self.batch, **_counted(base)}
    return type("OneBatch", (base,), {**members, "__module__": base.__module__})


@functools.cache
def _first_batches(base: type) -> type:
    members = {
        "__getitem__": lambda self, index: self.whole[index],
        **{
            name: functools.partialmethod(_passed_on, name)
            for name in ("on_epoch_begin", "on_epoch_end")
            if hasattr(base, name)
        },
    }
    # Of the library, for a census looks past all that is ours: what this holds is the program's.
    return type(
        "FirstBatches", (base,), {**members, **_counted(base), "__module__": base.__module__}
    )


def _passed_on(first: Any, name: str) -> None:
    getattr(first.whole, name)()
