"""Who was killed for memory is read where it cannot be mistaken for somebody else."""

import pytest

from lowwater.isolation.local import control_group
from lowwater.isolation.local.memory_limit import kills_for_memory


@pytest.mark.parametrize(
    ("hierarchy", "files"),
    [
        # In the first file the groups below are counted too, among them those of our limits.
        ("", {"memory.events": "oom 9\noom_kill 9\n", "memory.events.local": "oom_kill 3\n"}),
        ("memory", {"memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"}),
    ],
)
def test_kills_are_those_of_our_own_group(monkeypatch, tmp_path, hierarchy, files):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    groups = {hierarchy: str(tmp_path)}
    monkeypatch.setattr(control_group, "_group_of", lambda _, below: groups.get(below))

    assert kills_for_memory() == 3


def test_without_a_group_they_are_those_of_the_machine(monkeypatch):
    told = {"vmstat": "pgfault 5\noom_kill 7\n"}
    monkeypatch.setattr(control_group, "_group_of", lambda *_: None)
    monkeypatch.setattr(control_group, "read", lambda _, name: told[name])

    assert kills_for_memory() == 7
