"""How much more memory this process can take before somebody says stop.

What cannot be read is no limit. Used at rare moments only: it opens a dozen small files.
"""

import os
import re

from lowwater.probes.cgroup import CgroupProbe, text_of

_PROC = "/proc"


def headroom(
    proc: "str | os.PathLike[str]" = _PROC, cgroup: CgroupProbe | None = None
) -> int | None:
    """The bytes that may still be taken; None where nothing that could be read is a limit."""
    status = text_of(os.path.join(proc, "self/status"))
    rooms = [
        _kib(text_of(os.path.join(proc, "meminfo")), "MemAvailable"),
        (cgroup or CgroupProbe()).room_bytes(),
        _below("RLIMIT_AS", _kib(status, "VmSize")),
        _below("RLIMIT_DATA", _kib(status, "VmData")),
    ]
    return min((max(0, room) for room in rooms if room is not None), default=None)


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


def _below(limit: str, used: int | None) -> int | None:
    most = soft_limit(limit)
    return None if most is None or used is None else most - used


def _kib(text: str, name: str) -> int | None:
    found = re.search(rf"^{name}:\s+(\d+) kB", text, re.MULTILINE)
    return int(found[1]) * 1024 if found else None
