"""The models of `benchmarks/footprint.py`: one file each, with a `build()` and the `data(count)`.

`build()` gives a compiled Keras model, `data(count)` that many samples: `x` and `y`.
All but `custom_train_step` run on every backend of Keras.
"""

from importlib import import_module
from types import ModuleType

NAMES = (
    "mlp",
    "wide_dense",
    "cnn",
    "mobilenet",
    "lstm",
    "gru",
    "transformer",
    "unet",
    "two_inputs",
    "custom_train_step",
    "subclassed",
    "embedding_heavy",
)
# They use TensorFlow itself.
TENSORFLOW_ONLY = frozenset({"custom_train_step"})


def load(name: str) -> ModuleType:
    """The module of one model; it imports Keras."""
    return import_module(f"models.{name}")
