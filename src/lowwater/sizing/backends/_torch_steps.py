"""Peaks of steps on torch: by the profiler on a CPU, by the allocator on a GPU."""

import time
from collections.abc import Callable
from typing import Any

from lowwater.errors import UsageError
from lowwater.model.footprint import Fixed, StepPeak
from lowwater.model.interruption import let_through
from lowwater.sizing.backends._torch_profile import peaks_of, profiled

# Steps that are measured. A guess.
_STEPS = 3
_PLACES = {"cpu": "CPU:0", "cuda": "GPU:0"}


def place_of(device: str) -> str:
    """The place of a device type."""
    kind = device.partition(":")[0]
    if kind not in _PLACES:
        raise UsageError(
            "torch does not report the peak of this device",
            received=device,
            advice="a CPU or a CUDA device",
        )
    return _PLACES[kind]


def device_bytes(place: str) -> int | None:
    """What the GPU has; not tried on one."""
    import torch

    if place == _PLACES["cpu"]:
        return None
    return int(torch.cuda.get_device_properties(0).total_memory)


def notes_on(place: str) -> tuple[str, ...]:
    """What was not tried."""
    return (
        ()
        if place == _PLACES["cpu"]
        else (f"Peaks of torch on {place} were not tested on real hardware",)
    )


def peaks_and_time(
    step: Callable[[], Any], base_bytes: int, place: str
) -> tuple[tuple[int, ...], float]:
    """Of each of several steps; `base_bytes` is what torch had in use before the first."""
    times: list[float] = []

    def timed() -> None:
        began = time.monotonic()
        step()
        times.append(time.monotonic() - began)

    if place == _PLACES["cpu"]:
        return peaks_of(profiled(timed, _STEPS), base_bytes), min(times)
    return tuple(_on_gpu(timed) for _ in range(_STEPS)), min(times)


def floor_of(step: Callable[[int], StepPeak], fixed: Callable[[], Fixed]) -> int:
    """What a step with one sample takes beside weights and optimizer; 0 where it fails.

    It is almost all gradients, and what the optimizer computes with: torch makes copies of
    several weights at a time. Up to there the activations of larger batches are hidden.
    """
    try:
        peak = step(1).peak_bytes
    except Exception as error:  # noqa: BLE001 - some models refuse a single sample
        let_through(error)
        return 0
    there = fixed()
    return max(0, peak - there.weights_bytes - there.optimizer_bytes - there.sample_bytes)


def _on_gpu(step: Callable[[], Any]) -> int:
    """Its allocator counts; not tried on a GPU."""
    import torch

    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    step()
    torch.cuda.synchronize()
    return int(torch.cuda.max_memory_allocated())
