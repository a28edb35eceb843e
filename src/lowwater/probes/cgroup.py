"""The limit that a container sets, and how often the kernel killed for it."""

import os
from collections.abc import Iterator

from lowwater.model import NotMeasured, Reading
from lowwater.model.guard import Room
from lowwater.model.interruption import let_through

LIMIT = "limit"
CURRENT = "current"
OOM_KILLS = "oom_kills"
# The limits by their names: beyond the first the kernel kills, beyond the second it slows down.
HARD = "control group"
SOFT = "control group's memory.high"
_UNLIMITED_V1 = 1 << 60


class CgroupProbe:
    """Reads the memory controller of this process's control group (v2, else v1)."""

    name = "cgroup"

    def __init__(
        self,
        root: "str | os.PathLike[str]" = "/sys/fs/cgroup",
        self_path: str = "/proc/self/cgroup",
    ) -> None:
        """Find the group's folder; a test may point at folders of its own."""
        self._root = root
        self._self_path = self_path

    def read(self) -> Reading | NotMeasured:
        """Limit (left out when there is none), current use and out-of-memory kills."""
        for folder in self._folders():
            gauges = _read_v2(folder) or _read_v1(folder)
            if gauges:
                return Reading(gauges)
        return NotMeasured("no readable memory control group")

    def room_bytes(self) -> int | None:
        """What the group, and all that it is part of, may still take; None without a limit."""
        return min((room.left_bytes for room in self.rooms()), default=None)

    def rooms(self) -> tuple[Room, ...]:
        """The same for each limit, by its name."""
        return tuple(room for folder in self._folders() for room in _rooms(folder))

    def limit_bytes(self) -> int | None:
        """The lowest limit of the group and of all that it is part of; None without one."""
        read = (_read_v2(folder) or _read_v1(folder) for folder in self._folders())
        return min((gauges[LIMIT] for gauges in read if LIMIT in gauges), default=None)

    def _folders(self) -> list[str]:
        """The group's own folder, then its parents, then the root: v2 first."""
        folders: list[str] = []
        for line in text_of(self._self_path).splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers in ("", "memory"):
                base, parts = os.path.join(self._root, controllers), path.split("/")
                named = [part for part in parts if part]
                folders += [
                    os.path.join(base, *named[:depth]) for depth in range(len(named), -1, -1)
                ]
        return folders


def kills_on_machine(vmstat: str = "/proc/vmstat") -> int | None:
    """How many processes the kernel has ended because memory ran out."""
    return _keyed_number(vmstat, "oom_kill")


def _read_v2(folder: str) -> dict[str, int]:
    current = _number(os.path.join(folder, "memory.current"))
    if current is None:
        return {}
    limit = _number(os.path.join(folder, "memory.max"))
    kills = _keyed_number(os.path.join(folder, "memory.events"), "oom_kill")
    return _present({CURRENT: current, LIMIT: limit, OOM_KILLS: kills})


def _read_v1(folder: str) -> dict[str, int]:
    current = _number(os.path.join(folder, "memory.usage_in_bytes"))
    if current is None:
        return {}
    limit = _number(os.path.join(folder, "memory.limit_in_bytes"))
    kills = _keyed_number(os.path.join(folder, "memory.oom_control"), "oom_kill")
    has_limit = limit is not None and limit < _UNLIMITED_V1
    return _present({CURRENT: current, LIMIT: limit if has_limit else None, OOM_KILLS: kills})


def _rooms(folder: str) -> Iterator[Room]:
    """Pages of files that nobody has mapped are given up before anybody is killed."""
    gauges = _read_v2(folder) or _read_v1(folder)
    limits = {HARD: gauges.get(LIMIT), SOFT: _number(os.path.join(folder, "memory.high"))}
    set_limits = {name: limit for name, limit in limits.items() if limit is not None}
    if not set_limits or CURRENT not in gauges:
        return
    used = gauges[CURRENT] - _reclaimable(os.path.join(folder, "memory.stat"))
    for name, limit in set_limits.items():
        yield Room(name, limit, limit - used)


def _reclaimable(path: str) -> int:
    def pages(name: str) -> int:
        # In v1 the plain names leave out the groups below, whose pages count as well.
        found = _keyed_number(path, f"total_{name}")
        return (found if found is not None else _keyed_number(path, name)) or 0

    mapped = pages("mapped_file") or pages("file_mapped")
    return max(0, pages("inactive_file") + pages("active_file") - mapped)


def _present(gauges: dict[str, int | None]) -> dict[str, int]:
    return {name: value for name, value in gauges.items() if value is not None}


def _number(path: str) -> int | None:
    try:
        return int(text_of(path))
    except ValueError:  # absent, unreadable, or the word "max"
        return None


def _keyed_number(path: str, key: str) -> int | None:
    pairs = (line.split() for line in text_of(path).splitlines())
    try:
        return next((int(value) for name, value in pairs if name == key), None)
    except ValueError:
        return None


def text_of(path: str) -> str:
    """Not by `pathlib`, which the watched program would have to load."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError) as error:
        let_through(error)
        return ""
