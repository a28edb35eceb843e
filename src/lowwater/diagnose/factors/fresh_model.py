"""Fit a fresh copy each time, where the program fits one model again and again."""

import gc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from lowwater.diagnose.change import Change
from lowwater.diagnose.factors._factor import Factor
from lowwater.diagnose.facts import Facts
from lowwater.model.frameworks import KERAS

# ruff: noqa: ANN401 - models of the program

# What is asked of the copy until the next `fit`; all that trains has to change the model itself.
_ASKED = ("evaluate", "predict", "test_on_batch", "predict_on_batch")
# What `fit` leaves on a model besides its weights.
_LEFT = ("history", "stop_training")


class FreshModel(Factor):
    """The counterpart of the same model: what the last `fit` has left on it is not there."""

    key = "fresh-model"
    name = "a fresh model in every fit"
    cleared = "not what the model keeps"
    blamed = "what the model keeps between fits"
    codes = ("LW202", "LW207")
    changes_amount = True
    covers = ("mended", "eager", "collected")

    def why_not(self, facts: Facts) -> str | None:
        """One model has to be fitted several times."""
        if not facts.fits:
            return "the program does not call fit"
        return None if facts.fits > 1 else "no model is fitted twice"

    def apply(self, change: Change, detail: str) -> None:  # noqa: ARG002
        """The copy takes the weights, and gives them back; new models leak if nothing is mended."""
        from lowwater.giveback.mend import mend

        mend()
        for library in KERAS:
            change.when_imported(library, lambda keras: _place(keras, change))


def _place(keras: ModuleType, change: Change) -> None:
    copies = Copies(keras)

    def fresh(model: Any) -> Any:
        try:
            return copies.fresh(model)
        except Exception as error:  # noqa: BLE001 - models of any kind
            reason = str(error).partition("\n")[0]
            change.failed(f"the model cannot be copied: {type(error).__name__}: {reason}")
            return model

    change.rebind(keras.Model.fit, "self", fresh)
    change.after(keras.Model.fit, copies.give_back, "self")
    for name in _ASKED:
        change.rebind(getattr(keras.Model, name), "self", copies.asked)


class Copies:
    """One copy of each model at a time."""

    def __init__(self, keras: Any) -> None:
        """No model was fitted yet."""
        self._keras = keras
        self._copy_of: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        self._model_of: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    def fresh(self, model: Any) -> Any:
        """A copy that goes on where the model is; the last one is let go."""
        if not model.built or model in self._model_of:
            # It is built by its first `fit`. And a copy fits itself where a `fit` calls another.
            return model
        self._copy_of.pop(model, None)
        # A model is full of cycles, and copies that wait would hide what is looked for.
        gc.collect()
        copy = self._cloned(model)
        _hand_over(model, copy)
        self._copy_of[model] = copy
        self._model_of[copy] = weakref.ref(model)
        return copy

    def give_back(self, copy: Any) -> None:
        """The model is as if it had been fitted itself."""
        model = self._model_of.get(copy, lambda: None)()
        if model is not None:
            _hand_over(copy, model)
            for name in _LEFT:
                if hasattr(copy, name):
                    setattr(model, name, getattr(copy, name))

    def asked(self, model: Any) -> Any:
        """The copy, with the weights that the model has now."""
        copy = self._copy_of.get(model)
        if copy is None:
            return model
        copy.set_weights(model.get_weights())
        return copy

    def _cloned(self, model: Any) -> Any:
        try:
            with _not_compiled(model):
                copy = self._keras.models.clone_model(model)
        except ValueError:
            # A class of the program; what it is made of is known if it says so.
            copy = type(model).from_config(model.get_config())
            copy.build_from_config(model.get_build_config())
        if model.optimizer is not None:
            _compile_like(model, copy)
        return copy


@contextmanager
def _not_compiled(model: Any) -> Iterator[None]:
    """Keras 3 compiles a clone itself, and fails where it has to find functions by their names."""
    was_compiled = vars(model).get("compiled", False)
    if was_compiled:
        model.compiled = False
    try:
        yield
    finally:
        if was_compiled:
            model.compiled = True


def _compile_like(model: Any, copy: Any) -> None:
    try:
        copy.compile_from_config(model.get_compile_config())
    except (TypeError, ValueError):
        # Keras does not find a loss or metric of the program by its name: both have the same.
        given = dict(model._compile_config.config)  # noqa: SLF001 - what `compile` was given
        given["optimizer"] = type(model.optimizer).from_config(model.optimizer.get_config())
        copy.compile(**given)


def _hand_over(source: Any, target: Any) -> None:
    """The weights, and what the optimizer remembers."""
    target.set_weights(source.get_weights())
    state = _state(source.optimizer)
    if len(state) > len(_state(target.optimizer)):
        target.optimizer.build(target.trainable_variables)
    # One that was never used has less to remember: the number of steps, and the rate.
    for value, variable in zip(state, _state(target.optimizer), strict=False):
        variable.assign(value)


def _state(optimizer: Any) -> list[Any]:
    variables = getattr(optimizer, "variables", ())
    # The legacy Keras has a method of this name.
    return [*(variables() if callable(variables) else variables)]
