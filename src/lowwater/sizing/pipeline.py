"""What the user's input pipeline keeps in host memory once its buffers are full."""

import sys
from collections.abc import Iterator
from typing import Any

from lowwater.model.footprint import Buffer
from lowwater.model.measured import NotMeasured
from lowwater.sizing.samples import leaves

# ruff: noqa: ANN401 - data sets are TensorFlow's

_MOST_STAGES = 50
_UNKNOWN_LENGTH = NotMeasured("its number of elements is not known")
_AUTOTUNED = NotMeasured("TensorFlow chooses its size while training")


def buffers_of(x: Any, y: Any = None) -> tuple[Buffer, ...]:
    """By stage, the last one first: element size times what the stage keeps of them."""
    tensorflow: Any = sys.modules.get("tensorflow")
    if tensorflow is not None and isinstance(x, tensorflow.data.Dataset):
        return tuple(_of_stages(x))
    arrays = [one for part in (x, y) if part is not None for one in leaves(part)]
    sizes = [getattr(one, "nbytes", None) for one in arrays]
    if sizes and all(isinstance(size, int) for size in sizes):
        return (Buffer("the arrays", sum(size for size in sizes if size is not None)),)
    return ()


def _of_stages(dataset: Any) -> Iterator[Buffer]:
    for stage in _stages(dataset):
        name = type(stage).__name__
        if "Shuffle" in name:
            yield Buffer(f"shuffle({_number(stage, '_buffer_size')})", _held(stage, "_buffer_size"))
        elif "Cache" in name and _text(getattr(stage, "_filename", "")) == "":
            count = int(stage.cardinality())
            size = _element_bytes(stage)
            is_known = count >= 0 and size is not None
            yield Buffer("cache()", count * (size or 0) if is_known else _UNKNOWN_LENGTH)
        elif "Prefetch" in name:
            yield Buffer("prefetch", _held(stage, "_buffer_size"))


def _stages(dataset: Any) -> Iterator[Any]:
    waiting, seen = [dataset], 0
    while waiting and seen < _MOST_STAGES:
        stage = waiting.pop(0)
        seen += 1
        yield stage
        waiting += list(stage._inputs())  # noqa: SLF001 - nothing public tells it


def _held(stage: Any, name: str) -> int | NotMeasured:
    count, size = _number(stage, name), _element_bytes(stage)
    if count is None or count < 0:
        return _AUTOTUNED
    if size is None:
        return NotMeasured("the size of its elements is not known in advance")
    total = int(stage.cardinality())
    return size * (min(count, total) if total >= 0 else count)


def _number(stage: Any, name: str) -> int | None:
    value = getattr(stage, name, None)
    try:
        return None if value is None else int(value)
    except (TypeError, ValueError):
        return None


def _text(value: Any) -> str:
    try:
        value = value.numpy() if hasattr(value, "numpy") else value
    except (NotImplementedError, AttributeError):
        return "?"
    return value.decode() if isinstance(value, bytes) else str(value)


def _element_bytes(stage: Any) -> int | None:
    """Of one element; a batch that may be short at the end counts as a whole one."""
    tensorflow = sys.modules["tensorflow"]
    batch = _batch_of(stage)
    total = 0
    for spec in tensorflow.nest.flatten(stage.element_spec):
        shape = getattr(spec, "shape", None)
        if shape is None or shape.rank is None or not spec.dtype.size:
            return None
        sizes = [*shape]
        if sizes and sizes[0] is None:
            sizes[0] = batch
        if None in sizes:
            return None
        size = int(spec.dtype.size)
        for one in sizes:
            size *= int(one)
        total += size
    return total


def _batch_of(stage: Any) -> int | None:
    """The batch size that was set last, here or before this stage."""
    return next(
        (size for one in _stages(stage) if (size := _number(one, "_batch_size")) is not None), None
    )
