"""Who holds the memory of a GPU: what was seen of each process, and what that says."""

from collections.abc import Mapping
from dataclasses import dataclass

from lowwater.model.gpus import Gpu, GpuProcess
from lowwater.model.measured import NotMeasured
from lowwater.model.processes import Process

# What the driver gives: its GPUs, for each that does not answer the reason, or why it has none.
Gpus = tuple[Gpu | NotMeasured, ...] | NotMeasured


@dataclass(frozen=True, slots=True)
class Glance:
    """All GPUs and the processes on them at one moment; two of them show who is active."""

    at_s: float
    gpus: Gpus
    processes: Mapping[int, Process | NotMeasured]


@dataclass(frozen=True, slots=True)
class ToFree:
    """How to get the bytes of a process back: a command to type, or whom or what to ask."""

    advice: str
    command: str | None = None


@dataclass(frozen=True, slots=True)
class GpuHolder:
    """One process on a GPU. `because` says what `looks_idle` rests on, either way."""

    on_gpu: GpuProcess
    process: Process | NotMeasured
    looks_idle: bool | NotMeasured
    because: str
    to_free: ToFree | None

    @property
    def is_parent_gone(self) -> bool:
        """Whether it was adopted for certain."""
        return isinstance(self.process, Process) and self.process.is_parent_gone is True

    @property
    def is_marked(self) -> bool:
        """Whether somebody may have left it behind."""
        return self.looks_idle is True or self.is_parent_gone


@dataclass(frozen=True, slots=True)
class HeldGpu:
    """One GPU with those who hold its memory, the largest first."""

    gpu: Gpu
    holders: tuple[GpuHolder, ...] | NotMeasured


# As the driver gives them, with what was found out about each.
HeldGpus = tuple[HeldGpu | NotMeasured, ...] | NotMeasured


@dataclass(frozen=True, slots=True)
class Need:
    """Whether some GPU has as much free as somebody needs."""

    need_bytes: int
    is_met: bool
    because: str
