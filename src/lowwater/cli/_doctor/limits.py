"""How much memory there is, and who may say stop."""

import re
from collections.abc import Mapping

from lowwater.cli._doctor.surroundings import Fact, Machine, Source
from lowwater.model import NotMeasured
from lowwater.probes.cgroup import CURRENT, LIMIT
from lowwater.probes.headroom import soft_limit

_OVERCOMMIT = {
    "0": "heuristic (0)",
    "1": (
        "always (1): the kernel promises more memory than it has, and the OOM killer ends a "
        "process when it runs out"
    ),
    "2": "never (2): an allocation fails when the promised memory exceeds the commit limit",
}


def _meminfo(name: str) -> Source:
    def read(around: Machine) -> Fact:
        found = re.search(rf"^{name}:\s+(\d+) kB", around.read("proc/meminfo"), re.MULTILINE)
        return int(found[1]) * 1024 if found else NotMeasured(f"/proc/meminfo has no {name}")

    return read


def _cgroup(gauge: str, absent: str) -> Source:
    def read(around: Machine) -> Fact:
        probe = next((probe for probe in around.probes if probe.name == "cgroup"), None)
        reading = probe.read() if probe else NotMeasured("no probe for control groups")
        return reading if isinstance(reading, NotMeasured) else reading.gauges.get(gauge, absent)

    return read


def _address_space(_: Machine) -> Fact:
    limit = soft_limit("RLIMIT_AS")
    return "none" if limit is None else limit


def _overcommit(around: Machine) -> Fact:
    mode = around.read("proc/sys/vm/overcommit_memory").strip()
    return _OVERCOMMIT.get(mode, mode)


LIMITS: Mapping[str, Source] = {
    "ram_bytes": _meminfo("MemTotal"),
    "available_bytes": _meminfo("MemAvailable"),
    "swap_bytes": _meminfo("SwapTotal"),
    "cgroup_limit_bytes": _cgroup(LIMIT, "none"),
    "cgroup_current_bytes": _cgroup(CURRENT, "not reported"),
    "address_space_limit_bytes": _address_space,
    "overcommit": _overcommit,
}
