"""A fresh copy of the model for every `fit`."""

import gc
import weakref
from types import SimpleNamespace

import pytest

from lowwater.diagnose.factors.fresh_model import Copies, FreshModel, _place
from lowwater.diagnose.facts import Facts


class Variable:
    def __init__(self, value=0):
        self.value = value

    def assign(self, other):
        self.value = other.value


class Optimizer:
    """Has a step count, and remembers more once it is built."""

    def __init__(self):
        self.variables = [Variable()]

    def get_config(self):
        return {}

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    def build(self, trained):
        self.variables += [Variable() for _ in trained]


class Model:
    built = True

    def __init__(self, weights=(0, 0)):
        self.values = [*weights]
        self.trainable_variables = self.values
        self.optimizer = Optimizer()
        self.compiled = True
        self.kept = []

    def get_weights(self):
        return [*self.values]

    def set_weights(self, values):
        self.values = [*values]

    def get_compile_config(self):
        return "adam"

    def compile_from_config(self, config):
        assert config == "adam"

    def fit(self):
        """Stands for what Keras does."""
        if len(self.optimizer.variables) == 1:
            self.optimizer.build(self.values)
        for variable in self.optimizer.variables:
            variable.value += 1
        self.values = [value + 1 for value in self.values]
        self.kept.append("a batch")
        self.history, self.stop_training = "history", True


def clone_model(model):
    assert not model.compiled, "Keras would compile the clone itself"
    return Model([0] * len(model.values))


@pytest.fixture
def copies():
    return Copies(SimpleNamespace(models=SimpleNamespace(clone_model=clone_model)))


def fitted(copies, model):
    copy = copies.fresh(model)
    copy.fit()
    copies.give_back(copy)
    return copy


def test_training_goes_on_from_where_it_was_and_nothing_else_stays(copies):
    model = Model()
    used = [fitted(copies, model) for _ in range(3)]

    assert model.values == [3, 3]
    assert model.compiled
    assert [variable.value for variable in model.optimizer.variables] == [3, 3, 3]
    assert (model.history, model.stop_training) == ("history", True)
    assert model.kept == []
    assert [copy.kept for copy in used] == [["a batch"]] * 3


def test_a_copy_lives_until_the_next_fit(copies):
    model = Model()
    first = weakref.ref(fitted(copies, model))
    gc.collect()
    assert copies.asked(model) is first()

    fitted(copies, model)
    assert first() is None


def test_copy_dies_with_its_model(copies):
    model = Model()
    copy = weakref.ref(fitted(copies, model))
    del model
    gc.collect()

    assert copy() is None


def test_copy_is_asked_with_the_weights_that_the_model_has_now(copies):
    model = Model()
    fitted(copies, model)
    model.set_weights([7, 8])

    assert copies.asked(model).values == [7, 8]
    assert copies.asked(other := Model()) is other


def test_loss_of_the_program_that_keras_cannot_find_is_used_as_it_is(copies, monkeypatch):
    def refuses(*_):
        raise TypeError("Could not locate function 'my_loss'")

    compiled = []
    model = Model()
    model._compile_config = SimpleNamespace(config={"optimizer": "adam", "loss": len})
    monkeypatch.setattr(Model, "compile_from_config", refuses)
    monkeypatch.setattr(Model, "compile", lambda _, **given: compiled.append(given), raising=False)

    fitted(copies, model)

    [given] = compiled
    assert given["loss"] is len
    assert isinstance(given["optimizer"], Optimizer)
    assert given["optimizer"] is not model.optimizer


def test_model_that_is_not_built_yet_is_fitted_itself(copies):
    model = Model()
    model.built = False

    assert copies.fresh(model) is model


class Placed:
    """Stands for `Change`."""

    def __init__(self):
        self.notes = []
        self.rebound = {}

    def rebind(self, function, argument, changed):
        self.rebound[function] = changed

    def after(self, *_):
        pass

    def failed(self, why):
        self.notes.append(why)


def test_model_that_cannot_be_copied_is_fitted_itself_and_that_is_said():
    def refuses(_):
        raise TypeError("its layers are\nnot known")

    methods = "fit evaluate predict test_on_batch predict_on_batch".split()
    change = Placed()
    _place(
        SimpleNamespace(
            models=SimpleNamespace(clone_model=refuses),
            Model=SimpleNamespace(**{name: name for name in methods}),
        ),
        change,
    )

    assert change.rebound["fit"](model := Model()) is model
    assert change.notes == ["the model cannot be copied: TypeError: its layers are"]


def test_one_model_has_to_be_fitted_twice():
    assert FreshModel().why_not(Facts()) == "the program does not call fit"
    assert FreshModel().why_not(Facts(fits=1)) == "no model is fitted twice"
    assert FreshModel().why_not(Facts(fits=2)) is None
