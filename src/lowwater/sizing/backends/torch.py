"""Steps of Keras on torch: the functions that `fit`, `evaluate` and `predict` call."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lowwater.model.footprint import Fixed, StepKind, StepPeak
from lowwater.sizing.backends._batch import bytes_of
from lowwater.sizing.backends._fixed import fixed_of
from lowwater.sizing.backends._torch_steps import (
    device_bytes,
    floor_of,
    notes_on,
    peaks_and_time,
    place_of,
)
from lowwater.sizing.backends._trainer import NAMES, epoch_of
from lowwater.sizing.backends.torch_function import TorchFunctionSteps
from lowwater.sizing.subject import Subject

# ruff: noqa: ANN401 - torch and Keras have no types


def variables(_limit_bytes: int | None) -> Mapping[str, str]:
    """Torch has no pool on the host; its profiler is not to talk of GPUs that are not there."""
    return {"KINETO_LOG_LEVEL": "99"}


class TorchSteps:
    """Steps of a model, with the gradients that one leaves to the next."""

    def __init__(self, subject: Subject) -> None:
        """In a process that exists only for this: the model is trained."""
        self._subject = subject
        self._model = subject.model
        self.place = place_of(_device_of(self._model))
        self.device_bytes = device_bytes(self.place)
        self.notes = notes_on(self.place)
        self._floor_bytes: int | None = None

    def fixed(self) -> Fixed:
        """By the variables; with the gradients counts what the optimizer works with."""
        fixed = fixed_of(self._subject)
        return replace(fixed, gradients_bytes=max(fixed.gradients_bytes, self._floor_bytes or 0))

    def measure(self, batch_size: int, kind: StepKind = StepKind.TRAIN) -> StepPeak:
        """Make a few steps with one batch, as `fit` makes them."""
        if kind is StepKind.TRAIN and self._floor_bytes is None:
            self._floor_bytes = floor_of(self._made, self.fixed)
        return self._made(batch_size, kind)

    def _made(self, batch_size: int, kind: StepKind = StepKind.TRAIN) -> StepPeak:
        data = self._data(batch_size, kind)
        function = self._function(data, kind)
        function(data)
        # As they are from one step to the next, they come and go where it is seen.
        self._model.zero_grad()
        fixed = self.fixed()
        base = fixed.weights_bytes + fixed.optimizer_bytes + bytes_of(data)
        peaks, step_s = peaks_and_time(lambda: function(data), base, self.place)
        return StepPeak(batch_size, peaks, step_s, kind)

    def _function(self, data: Any, kind: StepKind) -> Any:
        """With the model in the mode, and the optimizer in the state, that `fit` gives them."""
        model, name = self._model, NAMES[kind]
        if kind is not StepKind.PREDICT:
            model._symbolic_build(data_batch=data[0])  # noqa: SLF001 - as `train_on_batch` does
        getattr(model, f"make_{name}_function")()
        model.train(kind is StepKind.TRAIN)
        return getattr(model, f"{name}_function")

    def _data(self, batch_size: int, kind: StepKind) -> Any:
        """A batch as `fit` gives it to a step: a list of one."""
        from keras.src.backend.torch.trainer import TorchEpochIterator

        batches = epoch_of(TorchEpochIterator, self._subject, batch_size, kind)
        *_, data = next(iter(batches))
        return data


STEPS = TorchSteps
FUNCTION_STEPS = TorchFunctionSteps


def _device_of(model: Any) -> str:
    """Where the weights are, or will be."""
    from keras.src.backend.torch.core import get_device

    first = next(iter(model.variables), None)
    return str(get_device()) if first is None else str(first.value.device.type)
