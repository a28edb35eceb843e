"""Give all arrays the shape of the first."""

import sys
from collections.abc import Hashable
from functools import partial
from types import ModuleType
from typing import Any

from lowwater.agent.instrumentation.keras_calls import CALLS
from lowwater.diagnose.change import Change
from lowwater.diagnose.factors._factor import Factor
from lowwater.diagnose.facts import MANY_SHAPES, Facts
from lowwater.model.frameworks import KERAS

# ruff: noqa: ANN401 - data of the program

_LABELLED = ("fit", "evaluate", "train_on_batch", "test_on_batch")


class OneShape(Factor):
    """As many rows as they have; each is cut, or filled up with its own numbers."""

    key = "one-shape"
    name = "inputs of one shape"
    cleared = "not new shapes"
    blamed = "passing inputs with new shapes"
    codes = ("LW202", "LW209")
    changes_amount = True

    def why_not(self, facts: Facts) -> str | None:
        """There have to be several."""
        return None if facts.shapes >= MANY_SHAPES else "Keras is not given arrays of many shapes"

    def apply(self, change: Change, detail: str) -> None:  # noqa: ARG002
        """In every call of Keras that takes arrays."""

        def place(keras: ModuleType) -> None:
            for call in CALLS:
                for argument in ("x", "y") if call in _LABELLED else ("x",):
                    shapes: dict[Hashable, tuple[int, ...]] = {}
                    changed = partial(with_one_shape, shapes, ())
                    change.rebind(getattr(keras.Model, call), argument, changed)

        for library in KERAS:
            change.when_imported(library, place)


def with_one_shape(
    shapes: dict[Hashable, tuple[int, ...]], path: tuple[Hashable, ...], data: Any
) -> Any:
    """An array, or a structure of them, with the shapes that were there first."""
    if isinstance(data, dict):
        return {name: with_one_shape(shapes, (*path, name), part) for name, part in data.items()}
    if type(data) in {list, tuple}:
        parts = [with_one_shape(shapes, (*path, at), part) for at, part in enumerate(data)]
        return type(data)(parts)
    numpy: Any = sys.modules.get("numpy")
    if numpy is None or not isinstance(data, numpy.ndarray) or data.ndim < 2:  # noqa: PLR2004
        return data
    first = shapes.setdefault((path, data.ndim), data.shape[1:])
    return data if data.shape[1:] == first else numpy.resize(data, (len(data), *first))
