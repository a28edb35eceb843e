"""The names of the frameworks: modules and classes are known by the package that they are in."""

from types import FrameType

KERAS = ("keras", "tf_keras")
# Keras inside TensorFlow counts as well: `tensorflow.python.keras`.
WITH_KERAS = frozenset({*KERAS, "tensorflow"})
# The classes of Keras that a data set written in Python extends, the legacy one too.
PY_DATASETS = frozenset({"PyDataset", "Sequence"})
FRAMEWORKS = WITH_KERAS | {"jax", "jaxlib", "torch"}


def is_call_of_keras(frame: FrameType) -> bool:
    """Whether the code that runs in a frame is Keras' own."""
    module = frame.f_globals.get("__name__")
    return isinstance(module, str) and package_of(module) in KERAS


def package_of(name: str) -> str:
    """`keras.src.models` -> `keras`."""
    return name.partition(".")[0]
