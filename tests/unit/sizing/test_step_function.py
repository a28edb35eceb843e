"""A step function and its batch: which framework, which samples, and what is refused."""

import functools
import sys
import threading
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from lowwater.errors import NotPicklable, UsageError
from lowwater.sizing.footprint import footprint
from lowwater.sizing.step_function import (
    StepFunction,
    is_step_function,
    options_of,
    subject_of_step,
)

X, Y = np.zeros((6, 4), "float32"), np.zeros(6, "int64")


class FakeTensor:
    """FAKE: an array under the name of a class of torch."""

    def __init__(self, array):
        self._array = array

    def __array__(self, dtype=None, copy=None):
        return self._array


FakeTensor.__module__ = "torch"


@pytest.fixture
def keras_on_jax(monkeypatch):
    fake = SimpleNamespace(backend=SimpleNamespace(backend=lambda: "jax"), Layer=type("L", (), {}))
    monkeypatch.setitem(sys.modules, "keras", fake)


@pytest.fixture
def no_keras(monkeypatch):
    monkeypatch.delitem(sys.modules, "keras", raising=False)


def step(*batch):
    return batch


def test_tuple_is_several_arguments(keras_on_jax):
    subject = subject_of_step(step, (X, {"labels": Y}))

    assert len(subject.samples.parts) == 2
    assert subject.samples.count == subject.samples.own_batch == 6


def test_anything_else_is_one_argument(keras_on_jax):
    assert len(subject_of_step(step, {"x": X, "y": Y}).samples.parts) == 1
    assert len(subject_of_step(step, X).samples.parts) == 1


def test_framework_of_a_plain_function_is_that_of_keras(keras_on_jax):
    subject = subject_of_step(step, (X, Y))

    assert subject.backend == "jax"
    assert subject.model == StepFunction(step, has_tensors=False)


def test_framework_is_that_of_the_tensors(keras_on_jax):
    subject = subject_of_step(step, FakeTensor(X))

    assert subject.backend == "torch"
    assert subject.model.has_tensors


def test_framework_is_that_of_what_a_partial_holds(no_keras):
    assert subject_of_step(functools.partial(step, FakeTensor(X)), (X, Y)).backend == "torch"


def test_framework_is_that_of_a_module_used_by_a_function_that_it_calls(no_keras):
    torch = ModuleType("torch")

    def inner(x):
        return torch.sum(x)

    def outer(x):
        return inner(x)

    assert subject_of_step(outer, X).backend == "torch"


def test_function_without_a_framework_is_refused(no_keras):
    with pytest.raises(UsageError, match="the framework of this function is not clear"):
        subject_of_step(step, X)


@pytest.mark.parametrize(
    "batch", [(X, np.zeros(5)), (X, 0.5), (np.float32(3),)], ids=["two sizes", "number", "scalar"]
)
def test_batch_without_a_common_first_dimension_is_refused(keras_on_jax, batch):
    with pytest.raises(UsageError, match=r"differ in their first dimension.*functools\.partial"):
        subject_of_step(step, batch)


@pytest.mark.parametrize("batch", [(), None, (X, None)])
def test_step_without_a_batch_is_refused(keras_on_jax, batch):
    with pytest.raises(UsageError, match="a step needs a batch"):
        subject_of_step(step, batch)


def test_empty_batch_is_refused(keras_on_jax):
    with pytest.raises(UsageError, match="0 samples"):
        subject_of_step(step, X[:0])


def test_arguments_of_fit_are_refused():
    with pytest.raises(UsageError, match=r"one batch and no other data \(received: y\)"):
        options_of({"y": Y, "sample_weight": None})


def test_model_and_layer_are_no_step_functions(keras_on_jax):
    layer = sys.modules["keras"].Layer()

    assert is_step_function(step)
    assert not is_step_function(layer)
    assert not is_step_function(X)


def test_what_cannot_be_sent_is_named(keras_on_jax):
    lock = threading.Lock()

    def train_step(x):
        return x, lock

    with pytest.raises(
        NotPicklable, match=r"The variable `lock`, used in the body of `.*train_step` cannot be"
    ):
        footprint(train_step, X)


def test_name_is_that_of_the_function_in_a_partial():
    assert StepFunction(functools.partial(step, 1), has_tensors=False).name == "step"
