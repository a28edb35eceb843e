"""Fit the same model again and again, where the program makes a new one each time."""

import weakref
from types import ModuleType
from typing import Any

from lowwater.diagnose.change import Change
from lowwater.diagnose.factors._factor import Factor
from lowwater.diagnose.facts import Facts
from lowwater.model.frameworks import KERAS

# ruff: noqa: ANN401 - models of the program

# What a model that was never fitted would answer from its first weights, in a graph of its own.
_AFTERWARDS = ("evaluate", "predict")


class SameModel(Factor):
    """The first model takes the place of every later one that is built like it."""

    key = "same-model"
    name = "the same model in every fit"
    cleared = "not building new models"
    blamed = "building a new model for every fit"
    codes = ("LW207",)
    changes_amount = True
    covers = ("mended",)
    after = covers

    def why_not(self, facts: Facts) -> str | None:
        """Several models have to be fitted."""
        if not facts.fits:
            return "the program does not call fit"
        return None if facts.models > 1 else "the program fits only one model"

    def apply(self, change: Change, detail: str) -> None:  # noqa: ARG002
        """`fit`, and what comes after it, is asked of the first one."""
        first: dict[Any, Any] = {}
        stands_for: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

        def instead(model: Any) -> Any:
            return stands_for.setdefault(model, first.setdefault(_plan(model), model))

        def place(keras: ModuleType) -> None:
            change.rebind(keras.Model.fit, "self", instead)
            for name in _AFTERWARDS:
                change.rebind(getattr(keras.Model, name), "self", lambda m: stands_for.get(m, m))

        for library in KERAS:
            change.when_imported(library, place)


def _plan(model: Any) -> Any:
    """What makes two models alike: their class, and the shapes of their weights."""
    return type(model), tuple(tuple(weight.shape) for weight in model.weights)
