"""How much more memory this process can take before somebody says stop.

What cannot be read is no limit. Used at rare moments only: it opens a dozen small files.
"""

import os
import re

from lowwater.model.guard import Room
from lowwater.probes.cgroup import CgroupProbe, text_of

_PROC = "/proc"
RAM = "machine's memory"


def headroom(
    proc: "str | os.PathLike[str]" = _PROC, cgroup: CgroupProbe | None = None
) -> int | None:
    """The bytes that may still be taken; None where nothing that could be read is a limit."""
    return min((room.left_bytes for room in rooms(proc, cgroup)), default=None)


def rooms(
    proc: "str | os.PathLike[str]" = _PROC, cgroup: CgroupProbe | None = None
) -> tuple[Room, ...]:
    """What may still be taken below each limit that could be read."""
    status = text_of(os.path.join(proc, "self/status"))
    memory = text_of(os.path.join(proc, "meminfo"))
    found = [
        _room(RAM, _kib(memory, "MemTotal"), _kib(memory, "MemAvailable")),
        *(cgroup or CgroupProbe()).rooms(),
        _below("RLIMIT_AS", _kib(status, "VmSize")),
        _below("RLIMIT_DATA", _kib(status, "VmData")),
    ]
    return tuple(
        room._replace(left_bytes=max(0, room.left_bytes)) for room in found if room is not None
    )


def limit_bytes(
    proc: "str | os.PathLike[str]" = _PROC, cgroup: CgroupProbe | None = None
) -> int | None:
    """The most that this process can have: the machine's memory, or less in a container."""
    limits = [
        _kib(text_of(os.path.join(proc, "meminfo")), "MemTotal"),
        (cgroup or CgroupProbe()).limit_bytes(),
    ]
    return min((limit for limit in limits if limit is not None), default=None)


def soft_limit(name: str) -> int | None:
    """A resource limit of this process; None where there is none."""
    try:
        import resource
    except ImportError:  # another system
        return None
    soft, _ = resource.getrlimit(getattr(resource, name))
    return None if soft == resource.RLIM_INFINITY else soft


def _below(limit: str, used: int | None) -> Room | None:
    most = soft_limit(limit)
    return _room(limit, most, None if most is None or used is None else most - used)


def _room(name: str, limit: int | None, left: int | None) -> Room | None:
    """A machine that says what is left, and not how much there is, has a limit all the same."""
    return None if left is None else Room(name, left if limit is None else limit, left)


def _kib(text: str, name: str) -> int | None:
    found = re.search(rf"^{name}:\s+(\d+) kB", text, re.MULTILINE)
    return int(found[1]) * 1024 if found else None
