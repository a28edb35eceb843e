"""A step of the user's own on torch."""

import gc
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lowwater.model.footprint import Fixed, StepKind, StepPeak
from lowwater.sizing.backends._batch import batch_of
from lowwater.sizing.backends._torch_steps import (
    device_bytes,
    floor_of,
    notes_on,
    peaks_and_time,
    place_of,
)
from lowwater.sizing.step_function import arguments
from lowwater.sizing.subject import Subject

# ruff: noqa: ANN401 - torch has no types


class TorchFunctionSteps:
    """The tensors of this process are the step's: it exists only for this."""

    def __init__(self, subject: Subject) -> None:
        """Weights are the tensors that get gradients; they say which device computes."""
        self._function = subject.model.function
        self._samples = subject.samples
        self._has_tensors = subject.model.has_tensors
        weights = [*_weights()]
        kinds = {one.device.type for one in weights} or {"cpu"}
        self._device = max(kinds)  # weights on a GPU ("cuda") before those on the CPU
        self.place = place_of(self._device)
        self.device_bytes = device_bytes(self.place)
        self.notes = notes_on(self.place)
        self._floor_bytes: int | None = None
        self._fixed = Fixed(0, 0, 0, self._samples.sample_bytes)

    def fixed(self) -> Fixed:
        """What lives between two steps: weights, and the rest of the state."""
        fixed = self._fixed
        return replace(fixed, gradients_bytes=max(fixed.gradients_bytes, self._floor_bytes or 0))

    def measure(self, batch_size: int, kind: StepKind = StepKind.TRAIN) -> StepPeak:
        """Make a few steps with one batch."""
        if self._floor_bytes is None:
            self._floor_bytes = floor_of(self._made, self.fixed)
        return self._made(batch_size, kind)

    def _made(self, batch_size: int, kind: StepKind = StepKind.TRAIN) -> StepPeak:
        batch = self._batch(batch_size)
        self._function(*batch)
        gc.collect()
        weights = [*_weights()]
        # Gradients come and go where it is seen, as from one step to the next.
        for one in weights:
            one.grad = None
        base = _bytes_of(_tensors(self._device))
        weights_bytes = _bytes_of(weights)
        rest = base - weights_bytes - batch_size * self._samples.sample_bytes
        self._fixed = Fixed(weights_bytes, max(0, rest), weights_bytes, self._samples.sample_bytes)
        if not self._has_tensors:
            base += batch_size * self._samples.sample_bytes
        peaks, step_s = peaks_and_time(lambda: self._function(*batch), base, self.place)
        return StepPeak(batch_size, peaks, step_s, kind)

    def _batch(self, batch_size: int) -> tuple[Any, ...]:
        import torch

        def tensor(array: Any) -> Any:
            return torch.from_numpy(array).to(self._device)

        parts = batch_of(self._samples.parts, batch_size)
        return arguments(parts, tensor if self._has_tensors else None)


def _tensors(device: str) -> Iterator[Any]:
    import torch

    for one in gc.get_objects():
        if issubclass(type(one), torch.Tensor) and one.device.type == device:
            yield one


def _weights() -> Iterator[Any]:
    import torch

    for one in gc.get_objects():
        if issubclass(type(one), torch.Tensor) and one.is_leaf and one.requires_grad:
            yield one


def _bytes_of(tensors: Any) -> int:
    """Views and their base share one storage."""
    storages = {}
    for one in tensors:
        storage = one.untyped_storage()
        storages[storage.data_ptr()] = storage.nbytes()
    return sum(storages.values())
