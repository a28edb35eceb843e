"""What the driver says of a GPU: how much is taken, and by which processes."""

from collections.abc import Container
from dataclasses import dataclass
from typing import Final

from lowwater.model.measured import NotMeasured

_NONE_LISTED: Final = "the driver lists no process; in a container it hides those outside"
_NOT_LISTED: Final = "the driver itself uses it, or a process that the driver does not list"


@dataclass(frozen=True, slots=True)
class Unattributed:
    """Bytes that are used, and that the driver shows for no process; and why."""

    used_bytes: int
    why: str


@dataclass(frozen=True, slots=True)
class GpuProcess:
    """One process on a GPU, by its number as the driver has it."""

    pid: int
    used_bytes: int | NotMeasured


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU at one moment. `index` is its number in the order of `nvidia-smi`.

    `used_bytes` is everybody's. It is more than the sum over the processes: the driver needs some
    itself, and in a container it does not show them all.
    """

    index: int
    name: str
    uuid: str
    total_bytes: int
    used_bytes: int
    free_bytes: int
    processes: tuple[GpuProcess, ...] | NotMeasured
    # Percent of the last second in which it computed.
    utilization: int | NotMeasured
    # Cut into instances: the bytes are those of the whole GPU, not those a program can have.
    is_mig: bool = False

    def used_by(self, pids: Container[int]) -> int | NotMeasured:
        """What these processes take together; 0 where none of them is listed."""
        if isinstance(self.processes, NotMeasured):
            return self.processes
        total = 0
        for process in self.processes:
            if process.pid not in pids:
                continue
            if isinstance(process.used_bytes, NotMeasured):
                return process.used_bytes
            total += process.used_bytes
        return total

    @property
    def unattributed(self) -> Unattributed | None:
        """What is used and shown for no process; None where there is nothing."""
        listed = () if isinstance(self.processes, NotMeasured) else self.processes
        answers = [process.used_bytes for process in listed]
        known_bytes = sum(answer for answer in answers if isinstance(answer, int))
        rest_bytes = self.used_bytes - known_bytes
        return Unattributed(rest_bytes, self._why_unattributed()) if rest_bytes > 0 else None

    def _why_unattributed(self) -> str:
        if isinstance(self.processes, NotMeasured):
            return self.processes.why
        for process in self.processes:
            if isinstance(process.used_bytes, NotMeasured):
                return process.used_bytes.why
        return _NOT_LISTED if self.processes else _NONE_LISTED


@dataclass(frozen=True, slots=True)
class GpuLook:
    """What the driver said of a GPU at one moment of a run.

    `ours_bytes` is what the watched program and its children take; None where it cannot be told.
    """

    elapsed_s: float
    used_bytes: int
    free_bytes: int
    ours_bytes: int | None


@dataclass(frozen=True, slots=True)
class WatchedGpu:
    """One GPU during a run; there is a look wherever something has changed."""

    index: int
    name: str
    uuid: str
    total_bytes: int
    is_mig: bool = False
    looks: tuple[GpuLook, ...] = ()
