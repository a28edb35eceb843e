"""The first pipeline that a line of the program makes stands for all that it makes later."""

import functools
import sys
from collections.abc import Callable, Hashable
from types import ModuleType
from typing import Any

from lowwater.diagnose.callers import is_of_a_library

# ruff: noqa: ANN401 - data sets of the program

# TensorFlow keeps the Python functions that are given to these.
_METHODS = ("from_generator", "map")


def reuse_pipelines(tensorflow: ModuleType) -> None:
    """For the rest of this process."""
    dataset = tensorflow.data.Dataset
    made: dict[Hashable, Any] = {}
    for name in _METHODS:
        is_static = isinstance(vars(dataset).get(name), staticmethod)
        once = _once(name, getattr(dataset, name), made, function_at=0 if is_static else 1)
        setattr(dataset, name, staticmethod(once) if is_static else once)


def _once(
    name: str, make: Callable[..., Any], made: dict[Hashable, Any], *, function_at: int
) -> Callable[..., Any]:
    @functools.wraps(make)
    def first(*arguments: Any, **named: Any) -> Any:
        caller = sys._getframe(1)  # noqa: SLF001 - `inspect` takes milliseconds
        if is_of_a_library(caller):
            return make(*arguments, **named)
        # One line may map one function after the other: each is a step of its own.
        function = arguments[function_at] if len(arguments) > function_at else None
        code = getattr(function, "__code__", type(function))
        key = (name, caller.f_code.co_filename, caller.f_lineno, code)
        if key not in made:
            made[key] = make(*arguments, **named)
        return made[key]

    return first
