"""What the data are that Keras is given."""

import inspect
from collections.abc import Iterator
from typing import Any

# ruff: noqa: ANN401 - data of the program


def kind_of_input(x: Any) -> str:
    """In words: arrays, a data set, a generator."""
    kind = type(x)
    names = {one.__name__ for one in kind.__mro__}
    if names & {"PyDataset", "Sequence"}:
        return "PyDataset"
    if "DatasetV2" in names:
        return "tf.data"
    if "DataLoader" in names and hasattr(x, "batch_sampler"):
        return "DataLoader"
    if inspect.isgenerator(x) or hasattr(kind, "__next__"):
        return "generator"
    return "arrays"


def shapes_of_rows(x: Any) -> Iterator[tuple[int, ...]]:
    """Of arrays, alone or in a structure."""
    if type(x) in {list, tuple, dict}:
        # One shape for all of them: the lengths of two inputs are not many.
        parts = [*(x.values() if isinstance(x, dict) else x)]
        yield tuple(size for part in parts for shape in shapes_of_rows(part) for size in shape)
    elif type(x).__name__ == "ndarray":
        yield tuple(x.shape[1:])
