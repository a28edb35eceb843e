"""What a Keras model takes whatever the batch, by its variables; the same on every backend."""

from typing import Any

from lowwater.model.footprint import Fixed
from lowwater.sizing.subject import Subject

# ruff: noqa: ANN401 - models are the user's


def fixed_of(subject: Subject) -> Fixed:
    """By the variables; those of the optimizer are there after a step."""
    model = subject.model
    optimizer = getattr(model, "optimizer", None)
    return Fixed(
        weights_bytes=bytes_of(model.variables),
        optimizer_bytes=bytes_of(_slots(optimizer)),
        gradients_bytes=bytes_of(model.trainable_variables),
        sample_bytes=subject.samples.sample_bytes,
    )


def _slots(optimizer: Any) -> Any:
    found = getattr(optimizer, "variables", ())
    return found() if callable(found) else found


def bytes_of(variables: Any) -> int:
    """By shape and type, so that none has to be read."""
    return sum(_bytes(one) for one in variables)


def _bytes(variable: Any) -> int:
    dtype = str(variable.dtype).rpartition(".")[2]
    width = {"bool": 1, "string": 16}.get(dtype)
    bits = "".join(letter for letter in dtype if letter.isdigit())
    size = width or int(bits or 32) // 8
    for length in variable.shape:
        size *= int(length)
    return size
