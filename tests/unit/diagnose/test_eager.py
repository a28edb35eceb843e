"""Nothing is traced, as far as a framework traces at all."""

from types import SimpleNamespace

import pytest

from lowwater.diagnose.factors.eager import Eager
from lowwater.diagnose.factors.mended import MendedLibraries
from lowwater.diagnose.facts import Facts

TENSORFLOW = Facts.of({"tensorflow": "2.21.0"})
JAX = Facts.of({"jax": "0.10.2"})
NEITHER = Facts.of({"torch": "2.13.0"})


@pytest.mark.parametrize(
    ("facts", "why_not"),
    [
        (TENSORFLOW, None),
        (JAX, None),
        (NEITHER, "the program uses neither TensorFlow nor JAX"),
        # Keras imports TensorFlow for the data, whatever it computes with.
        (
            Facts(fits=1, backend="torch", has_tensorflow=True),
            "torch runs eagerly anyway",
        ),
        (Facts(fits=1, backend="jax", has_tensorflow=True, has_jax=True), None),
    ],
)
def test_a_framework_has_to_trace(facts, why_not):
    assert Eager().why_not(facts) == why_not


def test_library_leaks_are_those_of_tensorflow():
    assert MendedLibraries().why_not(TENSORFLOW) is None
    assert MendedLibraries().why_not(JAX) == "the program does not use TensorFlow"


def test_each_framework_is_told_in_its_own_way():
    told = []
    frameworks = {
        "tensorflow": SimpleNamespace(
            config=SimpleNamespace(run_functions_eagerly=lambda on: told.append(("tf", on)))
        ),
        "jax": SimpleNamespace(
            config=SimpleNamespace(update=lambda name, on: told.append((name, on)))
        ),
    }
    change = SimpleNamespace(when_imported=lambda name, act: act(frameworks[name]))

    Eager().apply(change, "")

    assert told == [("tf", True), ("jax_disable_jit", True)]
