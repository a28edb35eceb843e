"""The kernel's groups of processes, as files: found, made, emptied and removed.

A group cannot remove itself, and whoever made it may be killed at any moment. So its name says who
that was, and others can tell whether it is still needed.
"""

import contextlib
import itertools
import os
import re
import signal
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lowwater.isolation.local.tree import is_alive, started_at

_GROUPS = "/sys/fs/cgroup"
_NAME = re.compile(r"lowwater-(\d+)-(\d+)-(\d+)-\d+")
_numbers = itertools.count(1)
# A process that is killed may take a moment to leave.
_MOST_TRIES = 200
_BETWEEN_TRIES_S = 0.005


class Owner(NamedTuple):
    """A process that makes groups; its number alone may be another's by now, or elsewhere."""

    namespace: int
    process: int
    started: int

    @classmethod
    def of(cls, process: int) -> "Owner":
        """A living process."""
        return cls(_namespace(), process, started_at(process) or 0)

    def is_gone(self) -> bool:
        """Whether it is known to be dead; of another namespace we know nothing."""
        is_here = self.namespace == _namespace() != 0
        return is_here and not is_alive(self.process, self.started)

    def new_name(self) -> str:
        """A name that no other group has."""
        return f"lowwater-{self.namespace}-{self.process}-{self.started}-{next(_numbers)}"


def second_version() -> str | None:
    """The folder of our own group, where all controllers have one hierarchy."""
    return _group_of("", "")


def first_version() -> str | None:
    """The folder of our own group in the hierarchy of memory."""
    return _group_of("memory", "memory")


def remove_groups_of(owner: Owner) -> None:
    """Of one who is gone, with all that still runs in them."""
    _remove(folder for folder, one in _groups_of_ours() if one == owner)


def remove_stale_groups() -> None:
    """Those that nobody could remove, because all were killed who could."""
    _remove(folder for folder, owner in _groups_of_ours() if owner.is_gone())


def remove(folder: str) -> None:
    """End all that runs in a group of ours, and in those below it, and remove them."""
    for _ in range(_MOST_TRIES):
        for below, _, _ in os.walk(folder, topdown=False):
            _end_all(below)
            with contextlib.suppress(OSError):
                os.rmdir(below)
        if not os.path.exists(folder):
            return
        time.sleep(_BETWEEN_TRIES_S)


def read(folder: str, name: str) -> str:
    """The content of one file; nothing if it is not there."""
    try:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def write(folder: str, name: str, value: str) -> None:
    """Set one value; what is not there is not made."""
    with open(os.path.join(folder, name), "r+", encoding="utf-8") as file:
        file.write(value)


def _remove(folders: Iterable[str]) -> None:
    for folder in [*folders]:
        remove(folder)


def _groups_of_ours() -> Iterator[tuple[str, Owner]]:
    """Beside each other, below our own group; those of other users are not ours."""
    for parent in filter(None, (second_version(), first_version())):
        with contextlib.suppress(OSError), os.scandir(parent) as entries:
            for entry in entries:
                told = _NAME.fullmatch(entry.name)
                if told is not None and entry.stat().st_uid == os.geteuid():
                    yield entry.path, Owner(*map(int, told.groups()))


def _end_all(folder: str) -> None:
    with contextlib.suppress(OSError):
        write(folder, "cgroup.kill", "1")
        return
    # The first version has no such file. Zero stands for a process of another namespace.
    for process in filter(None, map(int, read(folder, "cgroup.procs").split())):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, signal.SIGKILL)


def _namespace() -> int:
    """That in which numbers of processes mean what they mean here; 0 if it is not known."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return 0


def _group_of(controller: str, hierarchy: str) -> str | None:
    """Version 2 has neither a controller nor a hierarchy name."""
    for line in read("/proc/self", "cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            folder = os.path.normpath(os.path.join(_GROUPS, hierarchy, path.lstrip("/")))
            # In a container the path may be that of the host.
            return folder if os.path.exists(os.path.join(folder, "cgroup.procs")) else None
    return None
