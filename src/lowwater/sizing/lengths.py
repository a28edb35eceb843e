"""Sequences of variable length: the second axis along which a peak grows."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lowwater.model.footprint import Length, StepPeak
from lowwater.sizing.backends import steps_of
from lowwater.sizing.samples import Samples, leaves, mapped
from lowwater.sizing.subject import Subject

# ruff: noqa: ANN401 - models and arrays are the user's

# Steps of a sequence. Half of less is nothing to compare with. A guess.
_SHORTEST = 4


def length_of(subject: Subject, largest: StepPeak) -> Length | None:
    """Measure once more with samples half as long, where the model takes any length."""
    if 1 not in {*_variable_axes(subject.model)}:
        return None
    lengths = {leaf.shape[1] for leaf in leaves(subject.samples.parts[0]) if leaf.ndim > 1}
    if len(lengths) != 1 or min(lengths) < _SHORTEST:
        return None
    [length] = lengths
    half = replace(subject, samples=_halved(subject.samples, length))
    try:
        peak: int | None = steps_of(half).measure(largest.batch_size).peak_bytes
    except Exception:  # noqa: BLE001 - a model that wants its length is told of without the half
        peak = None
    return Length(length, largest.batch_size, largest.peak_bytes, peak)


def _variable_axes(model: Any) -> Iterator[int]:
    """The dimensions, besides that of the batch, that the inputs of a model leave open."""
    try:
        inputs = model.inputs or ()
    except (AttributeError, ValueError):
        return
    for one in inputs:
        yield from (axis for axis, size in enumerate(one.shape) if size is None and axis)


def _halved(samples: Samples, length: int) -> Samples:
    """Inputs, and targets that are as long, cut after half of it."""

    def cut(array: Any) -> Any:
        is_long = array.ndim > 1 and array.shape[1] == length
        return array[:, : length // 2] if is_long else array

    return replace(samples, parts=tuple(mapped(cut, part) for part in samples.parts))
