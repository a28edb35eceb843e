"""How much more memory this process can take before somebody says stop.

What cannot be read is no limit. Used at rare moments only: it opens a dozen small files.
"""

import re
from pathlib import Path

from lowwater.interruption import let_through
from lowwater.probes.cgroup import CgroupProbe

_PROC = Path("/proc")


def headroom(proc: Path = _PROC, cgroup: CgroupProbe | None = None) -> int | None:
    """The bytes that may still be taken; None where nothing that could be read is a limit."""
    status = _text(proc / "self/status")
    rooms = [
        _kib(_text(proc / "meminfo"), "MemAvailable"),
        (cgroup or CgroupProbe()).room_bytes(),
        _below("RLIMIT_AS", _kib(status, "VmSize")),
        _below("RLIMIT_DATA", _kib(status, "VmData")),
    ]
    return min((max(0, room) for room in rooms if room is not None), default=None)


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


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, ValueError) as error:
        let_through(error)
        return ""
