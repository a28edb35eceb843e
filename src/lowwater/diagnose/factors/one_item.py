"""Let the Python code inside of a `tf.data` pipeline give one item, and leave the rest."""

import copy
from collections.abc import Callable, Hashable, Iterator
from types import ModuleType
from typing import Any

from lowwater.diagnose.again import Again
from lowwater.diagnose.callers import is_function_of_the_program, line_of_the_program
from lowwater.diagnose.change import Change
from lowwater.diagnose.factors._factor import Factor
from lowwater.diagnose.facts import Facts
from lowwater.diagnose.look import PYTHON_IN_PIPELINES

# ruff: noqa: ANN401 - items of the program

_CALLED = {
    "from_generator": "the generator of `from_generator()`",
    "py_function": "the function of `py_function()`",
    "numpy_function": "the function of `numpy_function()`",
}
# A function that is given more shapes than this is given ever new ones.
_MOST_SHAPES = 8


class OneItem(Factor):
    """The first item of a generator as often, the first result of a function for each shape."""

    key = "generator"
    name = "your generator repeats one item"
    cleared = "not your code in the pipeline"
    blamed = "your code in the input pipeline"
    codes = ("LW303",)

    def why_not(self, facts: Facts) -> str | None:
        """There has to be some of the program's own."""
        return None if facts.generators else "tf.data calls none of your Python code"

    def parts(self, facts: Facts) -> dict[str, str]:
        """By what the program calls."""
        return {name: _CALLED[name] for name in facts.generators}

    def apply(self, change: Change, detail: str) -> None:
        """Where TensorFlow is given the functions; its own stay."""
        again = Again()
        instead: dict[str, Callable[[Any], Any]] = {
            "from_generator": lambda generator: _one_item(generator, again),
            "py_function": _one_result,
            "numpy_function": lambda function: _one_result(function, copy.deepcopy),
        }

        def place(tensorflow: ModuleType) -> None:
            for name, (argument, find) in PYTHON_IN_PIPELINES.items():
                if detail in {"", name}:
                    change.rebind(find(tensorflow), argument, instead[name])

        change.when_imported("tensorflow", place)


def _one_item(generator: Callable[..., Any], again: Again) -> Callable[..., Iterator[Any]]:
    if not is_function_of_the_program(generator):
        return generator
    code = getattr(generator, "__code__", type(generator))
    place: Hashable = (code, line_of_the_program())

    def items(*arguments: Any) -> Iterator[Any]:
        return again.of(iter(generator(*arguments)), place)

    return items


def _one_result(
    function: Callable[..., Any], copied: Callable[[Any], Any] = lambda result: result
) -> Callable[..., Any]:
    """What it gave first for inputs of these shapes; an array may be written to, a tensor not."""
    if not is_function_of_the_program(function):
        return function
    results: dict[Hashable, Any] = {}

    def result(*inputs: Any) -> Any:
        shapes = tuple(str(getattr(one, "shape", None)) for one in inputs)
        if shapes not in results:
            if len(results) == _MOST_SHAPES:
                results.clear()
            results[shapes] = function(*inputs)
        return copied(results[shapes])

    return result
