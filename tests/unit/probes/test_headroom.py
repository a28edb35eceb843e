"""The room that is left is that of the nearest limit; what cannot be read is none."""

import resource

import pytest

from lowwater.probes.cgroup import CgroupProbe
from lowwater.probes.headroom import headroom, soft_limit

MIB = 1 << 20


@pytest.fixture
def machine(tmp_path):
    def make(line="0::/box/inner\n", **files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (tmp_path / "self_cgroup").write_text(line)
        probe = CgroupProbe(tmp_path / "cgroup", str(tmp_path / "self_cgroup"))
        return headroom(tmp_path / "proc", probe)

    return make


def a_group(folder, current, most, stat="", high="max"):
    base = f"cgroup/{folder}".rstrip("/")
    return {
        f"{base}/memory.current": str(current * MIB),
        f"{base}/memory.max": str(most * MIB) if most else "max",
        f"{base}/memory.high": high,
        f"{base}/memory.stat": stat,
    }


def an_old_group(folder, current, most, stat=""):
    return {
        f"cgroup/memory/{folder}/memory.usage_in_bytes": str(current * MIB),
        f"cgroup/memory/{folder}/memory.limit_in_bytes": str(most * MIB),
        f"cgroup/memory/{folder}/memory.stat": stat,
    }


def test_where_nothing_can_be_read_there_is_no_limit(machine):
    assert machine() is None


def test_memory_of_the_machine_is_a_limit(machine):
    assert machine(**{"proc/meminfo": "MemTotal: 9 kB\nMemAvailable:  2048 kB\n"}) == 2 * MIB


def test_group_is_a_limit(machine):
    assert machine(**a_group("box/inner", 300, 430)) == 130 * MIB


def test_group_above_with_less_room_is_the_limit(machine):
    assert machine(**a_group("box/inner", 100, 430), **a_group("box", 380, 400)) == 20 * MIB
    assert machine(**a_group("box/inner", 100, 0)) == 20 * MIB


def test_level_from_which_a_group_is_slowed_down_is_a_limit(machine):
    assert machine(**a_group("box/inner", 100, 430, high=str(150 * MIB))) == 50 * MIB


def test_pages_of_files_that_nobody_has_mapped_are_room(machine):
    stat = f"inactive_file {30 * MIB}\nactive_file {20 * MIB}\nfile_mapped {10 * MIB}\n"

    assert machine(**a_group("box/inner", 400, 430, stat)) == 70 * MIB


def test_first_version_of_control_groups_is_read_with_the_groups_below(machine):
    line = "5:cpu:/\n4:memory:/box/inner\n"
    stat = f"inactive_file 0\ntotal_inactive_file {30 * MIB}\ntotal_mapped_file {5 * MIB}\n"
    inner, above = an_old_group("box/inner", 100, 430), an_old_group("box", 380, 400, stat)

    assert machine(line, **inner) == 330 * MIB
    assert machine(line, **inner, **above) == 45 * MIB


def test_group_above_its_limit_has_no_room(machine):
    assert machine(**a_group("box/inner", 431, 430)) == 0


@pytest.mark.parametrize(("limit", "used"), [("RLIMIT_AS", "VmSize"), ("RLIMIT_DATA", "VmData")])
def test_resource_limit_is_a_limit(machine, monkeypatch, limit, used):
    limits = {getattr(resource, limit): (100 * MIB, -1)}
    monkeypatch.setattr(resource, "getrlimit", lambda which: limits.get(which, (-1, -1)))

    assert machine(**{"proc/self/status": f"Name: x\n{used}:\t 61440 kB\n"}) == 40 * MIB
    assert soft_limit(limit) == 100 * MIB


def test_this_machine_has_some_room():
    assert headroom() is None or headroom() > 0
