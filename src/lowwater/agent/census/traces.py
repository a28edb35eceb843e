"""Why a `tf.function` was traced again: the argument that differs between its last traces."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

# ruff: noqa: ANN401 - the types of TensorFlow

_LATEST = 3
_NUMBERS = (int, float)
_LONGEST = 20


def changing_argument(function: Any) -> str:
    """In words, e.g. `progress` is a new Python number each time (1, 2, 3); empty if unclear."""
    traces = function._list_all_concrete_functions()[-_LATEST:]  # noqa: SLF001 - nothing else tells
    if len(traces) < _LATEST:
        return ""
    parameters = [trace.function_type.parameters for trace in traces]
    told = [
        f"`{name}` {change}"
        for name in parameters[-1]
        if (change := _change([one[name].type_constraint for one in parameters if name in one]))
    ]
    return " and ".join(told[:2])


def _change(types: Sequence[Any]) -> str:
    """How the types of one argument differ, each from all others; empty if they do not."""
    if len(types) < _LATEST or any(one == other for one, other in pairwise(types)):
        return ""
    kinds = {type(one).__name__ for one in types}
    if kinds == {"Literal"}:
        return _change_of_values([one.value for one in types])
    if kinds == {"TensorSpec"} and len({one.dtype for one in types}) == 1:
        shapes = ", ".join(_shape(one) for one in types)
        return f"has a new shape each time ({shapes})"
    return "is of a new kind each time" if len(kinds) == 1 else ""


def _change_of_values(values: Sequence[Any]) -> str:
    if all(type(value) in _NUMBERS for value in values):
        return f"is a new Python number each time ({', '.join(map(_short, values))})"
    if all(type(value) is str for value in values):
        return f"is a new text each time ({', '.join(map(_short, values))})"
    return ""


def _shape(spec: Any) -> str:
    return str(tuple(spec.shape.as_list())) if spec.shape.rank is not None else "unknown"


def _short(value: float | str) -> str:
    text = repr(value) if isinstance(value, str) else f"{value:.6g}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
