"""Keeps a trial below its memory limit: by the kernel where we are allowed to, else by watching.

In a control group the kernel counts every page that the trial and its processes touch, and ends
them when there is no room. Without one, their memory is looked at many times a second; a trial
that takes it faster than that gets above the limit before it is killed.
"""

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from lowwater.isolation.local import control_group
from lowwater.isolation.local.control_group import Owner


class MemoryLimit(Protocol):
    """One limit on one trial, as the process that started it sees it."""

    limit_bytes: int
    name: str

    def enter(self) -> None:
        """Put this process below the limit; called in the child."""
        ...

    def exceeded(self, processes: Iterable[int]) -> bool:
        """Whether the trial has to be killed now; called while it runs."""
        ...

    def was_met(self) -> bool:
        """Whether the limit ended the trial; called when it has ended."""
        ...

    def peak_bytes(self) -> int | None:
        """The most that was used of what is limited."""
        ...

    def close(self) -> None:
        """The trial has ended."""
        ...


@dataclass(frozen=True, slots=True)
class _GroupFiles:
    """The files of a control group, which differ between its two versions."""

    limit: str
    peak: str
    kills: str
    also: tuple[tuple[str, str], ...] = ()


_SECOND = _GroupFiles(
    "memory.max",
    "memory.peak",
    "memory.events",
    # One process that dies of it takes the others with it, and none goes to the disk instead.
    (("memory.oom.group", "1"), ("memory.swap.max", "0")),
)
_FIRST = _GroupFiles("memory.limit_in_bytes", "memory.max_usage_in_bytes", "memory.oom_control")


class ControlGroup:
    """The kernel's own limit."""

    name = "control group"

    def __init__(self, folder: str, files: _GroupFiles, limit_bytes: int) -> None:
        """Take over a group that has just been made."""
        self.limit_bytes = limit_bytes
        self._folder = folder
        self._files = files

    @classmethod
    def make(cls, limit_bytes: int) -> "ControlGroup | None":
        """A new group below our own; None where that is not allowed."""
        name = Owner.of(os.getpid()).new_name()
        for files, parent in (
            (_SECOND, control_group.second_version()),
            (_FIRST, control_group.first_version()),
        ):
            if parent is None:
                continue
            folder = os.path.join(parent, name)
            with contextlib.suppress(OSError):
                os.mkdir(folder)
                group = cls(folder, files, limit_bytes)
                if group._is_set():
                    return group
                group.close()
        return None

    def enter(self) -> None:
        """The kernel counts from here on."""
        control_group.write(self._folder, "cgroup.procs", str(os.getpid()))

    def exceeded(self, processes: Iterable[int]) -> bool:  # noqa: ARG002
        """The kernel may have killed one process of several: the others go with it."""
        return self.was_met()

    def was_met(self) -> bool:
        """By the count of processes that the kernel has killed."""
        return bool(_count(control_group.read(self._folder, self._files.kills), "oom_kill"))

    def peak_bytes(self) -> int | None:
        """As the kernel has counted."""
        peak = control_group.read(self._folder, self._files.peak).strip()
        return int(peak) if peak else None

    def close(self) -> None:
        """Nothing of the trial is left in it."""
        control_group.remove(self._folder)

    def _is_set(self) -> bool:
        try:
            control_group.write(self._folder, self._files.limit, str(self.limit_bytes))
        except OSError:
            return False
        for name, value in self._files.also:
            with contextlib.suppress(OSError):
                control_group.write(self._folder, name, value)
        return True


class Watch:
    """We look, and kill."""

    name = "watching"

    def __init__(self, limit_bytes: int) -> None:
        """Nothing was seen yet."""
        self.limit_bytes = limit_bytes
        self._peak_bytes = 0

    def enter(self) -> None:
        """The child has no part in it."""

    def exceeded(self, processes: Iterable[int]) -> bool:
        """All processes of the trial together."""
        used = memory_of(processes)
        self._peak_bytes = max(self._peak_bytes, used)
        return used > self.limit_bytes

    def was_met(self) -> bool:
        """Whether it was ever seen above."""
        return self._peak_bytes > self.limit_bytes

    def peak_bytes(self) -> int | None:
        """The most that was seen."""
        return self._peak_bytes or None

    def close(self) -> None:
        """There is nothing to undo."""


def limit_memory(limit_bytes: int) -> MemoryLimit:
    """The strictest way that is open to us."""
    return ControlGroup.make(limit_bytes) or Watch(limit_bytes)


def kills_for_memory() -> int:
    """How many processes the kernel has killed because memory was short.

    Those of our own group, without the groups below it: a trial that met its limit, or another
    container, says nothing about others. Of the whole machine where the group does not tell.
    """
    for group, name in (
        (control_group.second_version(), "memory.events.local"),
        (control_group.first_version(), _FIRST.kills),
    ):
        counted = _count(control_group.read(group, name), "oom_kill") if group is not None else None
        if counted is not None:
            return counted
    return _count(control_group.read("/proc", "vmstat"), "oom_kill") or 0


def _count(text: str, name: str) -> int | None:
    """From lines that are a name and a number."""
    found = (line.split() for line in text.splitlines() if line.startswith(f"{name} "))
    return next((int(number) for _, number in found), None)


def memory_of(processes: Iterable[int]) -> int:
    """Their own and their shared memory, without mapped files, which the kernel can drop."""
    several = [*processes]
    if len(several) == 1:
        return _sum_of(several[0], "status", ("RssAnon:", "RssShmem:"))
    # Copies of one process share most of it: each page is counted once.
    return sum(_sum_of(one, "smaps_rollup", ("Pss_Anon:", "Pss_Shmem:")) for one in several)


def _sum_of(process: int, file: str, names: tuple[str, ...]) -> int:
    lines = control_group.read(f"/proc/{process}", file).splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(names))
