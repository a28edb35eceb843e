"""Smaller inputs: images and sequences of half the length."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from lowwater.isolation.keras_models import customs_of
from lowwater.sizing.remedies._way import DoesNotApply, RemedyWay
from lowwater.sizing.samples import leaves, mapped
from lowwater.sizing.subject import Subject

# ruff: noqa: ANN401 - models and data are the user's
# Pixels, or steps of a sequence. Half of less is no input. A guess.
_SHORTEST = 4
_IMAGE_RANK, _SEQUENCE_RANK, _TABLE_RANK = 4, 3, 2


@dataclass(frozen=True)
class SmallerInputs(RemedyWay):
    """Half the height and width of images, half the length of sequences."""

    name = "smaller inputs"
    how = "resize images, or cut sequences, to half of each length"

    def changes(self, place: str) -> str:  # noqa: ARG002
        """It sees less."""
        return "the model gets less: half the height and width, or half the sequence"

    def __call__(self, subject: Subject) -> Subject:
        """Cut the samples; a model whose inputs have fixed lengths is made again."""
        halves = {length: length // 2 for length in _lengths(subject)}
        if not halves:
            raise DoesNotApply("the inputs are neither images nor sequences")
        model = _made_for(subject.model, halves)
        parts = tuple(
            mapped(lambda leaf: _cut(leaf, halves), part) for part in subject.samples.parts
        )
        return replace(subject, model=model, samples=replace(subject.samples, parts=parts))


def _lengths(subject: Subject) -> Iterator[int]:
    """Of the dimensions that can be shortened."""
    import keras

    last = keras.config.image_data_format() == "channels_last"
    for leaf in leaves(subject.samples.parts[0]):
        if leaf.ndim >= _IMAGE_RANK:
            found = leaf.shape[1:-1] if last else leaf.shape[2:]
        elif leaf.ndim == _SEQUENCE_RANK or (leaf.ndim == _TABLE_RANK and leaf.dtype.kind in "iu"):
            found = leaf.shape[1:2]
        else:
            found = ()
        yield from (length for length in found if length >= _SHORTEST)


def _cut(array: Any, halves: dict[int, int]) -> Any:
    """Targets of the size of the inputs are cut with them."""
    kept = array.ndim - 1 if array.ndim >= _SEQUENCE_RANK else array.ndim
    for axis in range(1, kept):
        array = array.take(range(halves.get(array.shape[axis], array.shape[axis])), axis)
    return array


def _made_for(model: Any, halves: dict[int, int]) -> Any:
    """The same model with shorter inputs, and the same weights."""
    import keras

    shapes = [tuple(one.shape) for one in getattr(model, "inputs", None) or ()]
    if not any(length in halves for shape in shapes for length in shape[1:]):
        return model
    config = model.get_config()
    for layer in config.get("layers", ()):
        if layer["class_name"] == "InputLayer":
            layer["config"]["batch_shape"] = _halved(layer["config"]["batch_shape"], halves)
        layer.pop("build_config", None)
    config.pop("build_input_shape", None)
    try:
        with keras.saving.custom_object_scope(customs_of(model)):
            made = type(model).from_config(config)
            made.set_weights(model.get_weights())
            made.compile_from_config(model.get_compile_config())
    except Exception as error:
        first = str(error).strip().splitlines() or [type(error).__name__]
        raise DoesNotApply(
            f"the model cannot be built for smaller inputs: {first[0][:100]}"
        ) from error
    return made


def _halved(shape: Any, halves: dict[int, int]) -> list[int | None]:
    return [shape[0], *(halves.get(one, one) for one in shape[1:])]
