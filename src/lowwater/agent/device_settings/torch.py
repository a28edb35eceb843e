"""A limit for torch on each GPU, set when the program first uses CUDA.

Torch takes memory as it needs it: without a limit there is nothing to set. Written after its
interface; tested only on a fake.
"""

import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from lowwater.model.device_settings import DeviceSettings
from lowwater.model.interruption import let_through
from lowwater.model.units import format_bytes


class TorchSettings:
    """What is wanted of torch, and what became of it."""

    def __init__(self, wanted: DeviceSettings, note: Callable[[str], None]) -> None:
        """Nothing is set until torch is imported."""
        self.wanted = wanted
        self._note = note
        self._torch: Any = None
        self._told: list[str] = []

    def want(self, wanted: DeviceSettings) -> None:
        """Something else than before; torch allows that at any time."""
        self.wanted = wanted
        self._told.clear()
        if self._torch is not None:
            self.imported(self._torch)

    def imported(self, torch: ModuleType) -> None:
        """Wait for CUDA; torch calls at once where it is in use already."""
        self._torch = torch
        wanted = self.wanted
        if wanted.limit_bytes is None:
            return
        when_used = getattr(torch.cuda, "_lazy_call", None)
        if when_used is None:
            self._say("no limit: this release of torch is not supported")
        else:
            when_used(lambda: self._apply(wanted))

    def told(self) -> Iterator[str]:
        """What is in force for each device, or will be."""
        if "torch" not in sys.modules:
            yield "torch: not imported yet"
        elif self._told:
            yield from self._told
        elif self.wanted.limit_bytes is None:
            yield "torch: takes memory as it needs it"
        else:
            limit = format_bytes(self.wanted.limit_bytes)
            yield f"torch: limit of {limit}, set when the program first uses CUDA"

    def _apply(self, wanted: DeviceSettings) -> None:
        """Whatever is raised here, torch would raise in the program."""
        if wanted is not self.wanted or wanted.limit_bytes is None:
            return
        try:
            for device in range(self._torch.cuda.device_count()):
                self._limit(device, wanted.limit_bytes)
        except Exception as error:  # noqa: BLE001
            let_through(error)
            self._say(f"no limit: {type(error).__name__}: {error}")

    def _limit(self, device: int, limit_bytes: int) -> None:
        cuda = self._torch.cuda
        whole = cuda.get_device_properties(device).total_memory
        cuda.set_per_process_memory_fraction(min(1.0, limit_bytes / whole), device)
        told = f"limit of {format_bytes(min(limit_bytes, whole))}"
        if limit_bytes > whole:
            told += f", all that it has: {format_bytes(limit_bytes)} is more"
        self._say(told, f" cuda:{device}")

    def _say(self, told: str, place: str = "") -> None:
        self._told.append(f"torch{place}: {told}")
        self._note(self._told[-1])
