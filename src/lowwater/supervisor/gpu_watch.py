"""Looks at the GPUs from outside the program, and keeps what changes.

Where others hold most of a GPU before the program has begun, it says so at once: a training that
runs out of memory an hour later is not the program's fault.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from lowwater.model import NotMeasured
from lowwater.model.gpus import Gpu
from lowwater.model.units import format_bytes
from lowwater.probes.nvml import NO_ANSWER, Driver
from lowwater.recording.records import GpuFound, GpuSeen, Noted, Record, Unmeasured

# Of a GPU; a training program makes a few dozen, for its pool only grows.
_MOST_CHANGES: Final = 512
_DRIVER: Final = "driver"
# Share of a GPU. With less of it free, a program that wants most of it will fail.
_LITTLE_FREE: Final = 0.5


class GpuWatch:
    """The driver's view of one program and its children."""

    def __init__(
        self, pid: int, warn: Callable[[str], None], who_holds: Callable[[Gpu], str]
    ) -> None:
        """The driver is asked at the first look, when the program is already starting."""
        self._pid = pid
        self._warn = warn
        self._who_holds = who_holds
        self._driver: Driver | NotMeasured | None = None
        self._latest: dict[int, tuple[int, int, int | None]] = {}
        # When that was seen for the last time, where it was seen more than once.
        self._held_us: dict[int, int] = {}
        self._changes: dict[int, int] = {}
        self._reasons: dict[str, str | None] = {}
        self.records: list[Record] = []

    def look(self, elapsed_s: float) -> None:
        """Ask the driver about all GPUs; one that does not answer says why, once."""
        # One that is slow to start may be there now.
        if self._driver is None or self._driver == NotMeasured(NO_ANSWER):
            self._driver = Driver.opened()
        answer = self._driver if isinstance(self._driver, NotMeasured) else self._driver.gpus()
        if isinstance(answer, NotMeasured):
            self._tell_reason(_DRIVER, answer.why)
            for index in self._latest:  # said once, for all of them
                self._tell_reason(f"GPU {index}", None)
            return
        self._tell_reason(_DRIVER, None)
        for number, gpu in enumerate(answer):
            if isinstance(gpu, NotMeasured):
                self._tell_reason(f"GPU {number}", gpu.why)
            else:
                self._tell_reason(f"GPU {number}", None)
                self._keep(gpu, elapsed_s)

    def close(self) -> None:
        """Note until when the latest counts held, and let go of the driver."""
        for index in [*self._held_us]:
            self._keep_held(index)
        if isinstance(self._driver, Driver):
            self._driver.close()

    def _keep(self, gpu: Gpu, elapsed_s: float) -> None:
        if gpu.index not in self._latest:
            self._tell_if_taken(gpu)
            self.records.append(
                GpuFound(gpu.index, gpu.name, gpu.uuid, gpu.total_bytes, gpu.is_mig)
            )
        ours = gpu.used_by(_Family(self._pid))
        if isinstance(ours, NotMeasured):
            self._tell_reason(f"GPU {gpu.index} by process", ours.why)
        known = None if isinstance(ours, NotMeasured) else ours
        self._keep_look(gpu.index, round(elapsed_s * 1e6), (gpu.used_bytes, gpu.free_bytes, known))

    def _keep_look(self, index: int, now_us: int, seen: tuple[int, int, int | None]) -> None:
        """Both ends of the time in which nothing changed: what was then, is known at both."""
        before = self._latest.get(index)
        if seen == before:
            self._held_us[index] = now_us
            return
        self._keep_held(index)
        self._latest[index] = seen
        self._changes[index] = self._changes.get(index, 0) + 1
        if self._changes[index] <= _MOST_CHANGES:
            self.records.append(GpuSeen(now_us, index, *seen))

    def _keep_held(self, index: int) -> None:
        held_us = self._held_us.pop(index, None)
        if held_us is not None and self._changes[index] <= _MOST_CHANGES:
            self.records.append(GpuSeen(held_us, index, *self._latest[index]))

    def _tell_if_taken(self, gpu: Gpu) -> None:
        if gpu.free_bytes >= _LITTLE_FREE * gpu.total_bytes or gpu.is_mig:
            return
        free = f"{format_bytes(gpu.free_bytes)} of {format_bytes(gpu.total_bytes)}"
        text = f"GPU {gpu.index} had {free} free before the program started"
        told = f"{text}: {self._who_holds(gpu)}"
        self._warn(told)
        self.records.append(Noted(0, told))

    def _tell_reason(self, what: str, why: str | None) -> None:
        """The reason, once; None takes it back, for a driver that answers again."""
        if self._reasons.get(what) != why:
            self._reasons[what] = why
            self.records.append(Unmeasured(what, why))


class _Family:
    """A process and all that it has started, directly or not."""

    def __init__(self, pid: int) -> None:
        self._pid = pid

    def __contains__(self, pid: object) -> bool:
        while isinstance(pid, int) and pid > 1:
            if pid == self._pid:
                return True
            pid = _parent_of(pid)
        return False


def _parent_of(pid: int) -> int:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return 0
    # The name before it may hold anything but ends with the last bracket.
    return int(stat.rpartition(")")[2].split()[1])
