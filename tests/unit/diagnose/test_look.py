"""What is noted of a program while it runs."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from lowwater.agent.instrumentation.keras_calls import CALLS
from lowwater.diagnose.facts import MANY_SHAPES, Facts
from lowwater.diagnose.look import FirstLook
from lowwater.diagnose.write_watch import WriteWatch


class Placed:
    """Stands for `Change`: keeps what is placed into the `fit` of each library."""

    def __init__(self, **libraries):
        self.libraries = libraries
        self.placed = []

    def when_imported(self, library, act):
        if library in self.libraries:
            act(self.libraries[library])

    def rebind(self, function, argument, changed, *_):
        self.placed.insert(0, (function, argument, changed))

    def before(self, *_):
        pass

    def fit(self, function, model, **given):
        """What is placed last runs first."""
        values = {"x": None, "callbacks": None, "self": model, **given}
        for placed_into, argument, changed in self.placed:
            if placed_into == function:
                values[argument] = changed(values[argument])
        return values


class Model:
    """Can be held weakly, as a model can."""


def a_library(name, backend="tensorflow"):
    return SimpleNamespace(
        __name__=name,
        Model=SimpleNamespace(**{call: f"{name}.{call}" for call in CALLS}),
        backend=SimpleNamespace(backend=lambda: backend),
    )


@pytest.fixture
def learned():
    return {}


def seen(learned):
    return Facts.of({}, told=learned)


@pytest.fixture(autouse=True)
def no_hook(monkeypatch):
    """One that is never taken back has no place in the process of the tests."""
    monkeypatch.setattr(WriteWatch, "install", lambda _: None)


def looked(learned, **libraries):
    change = Placed(**libraries)
    FirstLook(learned.update, str).apply(change)
    return change


def test_backend_is_that_of_the_keras_that_fits(learned):
    change = looked(
        learned, keras=a_library("keras", "jax"), tf_keras=a_library("tf_keras", "never asked")
    )

    change.fit("tf_keras.fit", Model())
    assert seen(learned).backend == "tensorflow"

    change.fit("keras.fit", Model())
    assert seen(learned).backend == "jax"


@pytest.mark.parametrize(
    ("backend", "framework"),
    [
        (
            "tensorflow",
            SimpleNamespace(config=SimpleNamespace(list_physical_devices=lambda _: [1, 2])),
        ),
        (
            "jax",
            SimpleNamespace(
                devices=lambda: [
                    SimpleNamespace(platform="gpu"),
                    SimpleNamespace(platform="cpu"),
                    SimpleNamespace(platform="gpu"),
                ]
            ),
        ),
        ("torch", SimpleNamespace(cuda=SimpleNamespace(device_count=lambda: 2))),
    ],
)
def test_gpus_are_those_of_the_backend(learned, monkeypatch, backend, framework):
    framework.__name__ = backend
    monkeypatch.setitem(sys.modules, backend, framework)

    looked(learned, keras=a_library("keras", backend)).fit("keras.fit", Model())

    assert seen(learned).gpus == 2


def test_framework_that_cannot_count_its_gpus_has_none(learned, monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", SimpleNamespace(__name__="jax"))

    looked(learned, keras=a_library("keras", "jax")).fit("keras.fit", Model())

    assert seen(learned).gpus == 0


def test_fits_of_one_model_are_told_from_models_that_are_fitted_once(learned):
    change = looked(learned, keras=a_library("keras"))
    models = [Model() for _ in range(3)]
    for model in models:
        change.fit("keras.fit", model)

    assert (seen(learned).fits, seen(learned).models) == (1, 2)

    for _ in range(5):
        change.fit("keras.fit", models[0])

    assert (seen(learned).fits, seen(learned).models) == (2, 2)


def test_shapes_of_rows_are_counted_up_to_many(learned):
    change = looked(learned, keras=a_library("keras"))
    for rows in range(9):
        change.fit("keras.predict", Model(), x=np.zeros((rows, 7)))

    assert seen(learned).shapes == 1

    for length in range(9):
        change.fit("keras.predict", Model(), x=[np.zeros((2, length)), np.zeros((2, 3))])

    assert seen(learned).shapes == MANY_SHAPES
