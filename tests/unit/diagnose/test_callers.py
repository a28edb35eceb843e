"""The program's own code is told from that of the libraries."""

import functools
import sys
from types import SimpleNamespace

import pytest

from lowwater.diagnose.callers import (
    is_function_of_the_program,
    is_of_a_library,
    is_of_the_program,
    line_of_the_program,
)


def frame_of(name, filename="train.py"):
    return SimpleNamespace(
        f_globals={"__name__": name}, f_code=SimpleNamespace(co_filename=filename)
    )


@pytest.mark.parametrize("name", ["keras.src.trainers", "tf_keras", "tensorflow.python.data.ops"])
def test_code_of_a_library_is_not_the_programs(name):
    assert is_of_a_library(frame_of(name))
    assert not is_of_the_program(frame_of(name))


def test_script_is_the_programs_and_what_pip_has_installed_is_not():
    installed = "/usr/lib/python3/site-packages/keras_hub/models.py"

    assert is_of_the_program(frame_of("__main__"))
    assert not is_of_the_program(frame_of("keras_hub.models", installed))
    assert not is_of_a_library(frame_of("keras_hub.models", installed))


def test_line_is_that_of_the_program_below_all_libraries():
    namespace = {"__name__": "keras.src.trainers", "ask": line_of_the_program}
    exec("def fit():\n    return ask()\n", namespace)

    found = namespace["fit"]()

    assert found == (__file__, sys._getframe().f_lineno - 2)


class Generator:
    def __call__(self):
        return iter(())

    def items(self):
        return iter(())


@pytest.mark.parametrize(
    "function",
    [Generator(), Generator().items, frame_of, functools.partial(frame_of, "x"), lambda: 1],
    ids=["object", "method", "function", "partial", "lambda"],
)
def test_functions_of_the_program_are_known_and_those_of_a_library_too(function, monkeypatch):
    assert is_function_of_the_program(function)

    monkeypatch.setattr(Generator, "__module__", "keras.src.adapters")
    plain = getattr(function, "func", getattr(function, "__func__", function))
    if plain.__module__ == __name__:
        monkeypatch.setattr(plain, "__module__", "keras.src.adapters")

    assert not is_function_of_the_program(function)
