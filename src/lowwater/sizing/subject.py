"""What is measured: a model, samples of its data, and how it is trained."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lowwater.errors import UsageError
from lowwater.sizing.samples import Samples

# ruff: noqa: ANN401 - models are the user's

_MOST_BATCH = 1 << 31


@dataclass(frozen=True, slots=True)
class Subject:
    """A model with data to train it on; what it trains is not the caller's.

    `options` are arguments of `fit` that change what a step takes, such as `class_weight`.
    """

    model: Any
    samples: Samples
    backend: str = "tensorflow"
    options: Mapping[str, Any] = field(default_factory=dict)


def backend_of(model: Any) -> str:
    """The backend that computes this model."""
    keras: Any = sys.modules.get("keras")
    if keras is None or not isinstance(model, keras.Model):
        raise UsageError(
            "footprint() measures a Keras model",
            received=f"a {type(model).__name__}",
            advice="lowwater.footprint(model, x, y, batch_size=64)",
        )
    backend: str = keras.backend.backend()
    return backend


def check_compiled(model: Any) -> None:
    """A training step needs an optimizer and a loss."""
    if not getattr(model, "compiled", False):
        raise UsageError(
            "the model is not compiled, so it has no training step",
            received=f"{type(model).__name__} {getattr(model, 'name', '')!r}",
            advice='model.compile(optimizer="adam", loss=...) first',
        )


def check_batch_size(given: Any, name: str = "batch_size") -> int:
    """A whole number above 0."""
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise UsageError(
            f"{name} must be a whole number above 0", received=repr(given), advice=f"{name}=64"
        )
    return int(given)


def parsed_batch_size(given: str | None, name: str) -> int | None:
    """What stands on a command line."""
    if given is None:
        return None
    number = int(given) if given.strip().isdecimal() else 0
    if not 0 < number <= _MOST_BATCH:
        raise UsageError(
            f"{name} must be a whole number above 0", received=repr(given), advice=f"{name} 64"
        )
    return number
