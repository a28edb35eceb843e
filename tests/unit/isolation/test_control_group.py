"""Groups that nobody needs are removed, and those of others are left alone."""

import os
import signal

import pytest

from lowwater.isolation.local import control_group
from lowwater.isolation.local.control_group import Owner, remove_groups_of, remove_stale_groups

HERE = Owner.of(os.getpid())
# Another had our number before us.
BEFORE_US = HERE._replace(started=HERE.started - 1)


@pytest.fixture
def parent(monkeypatch, tmp_path):
    """In the place of our own group: folders can be made and removed in it."""
    groups = {"memory": str(tmp_path)}
    monkeypatch.setattr(control_group, "_group_of", lambda _, below: groups.get(below))
    monkeypatch.setattr(control_group, "_MOST_TRIES", 1)
    return tmp_path


def made(parent, name):
    folder = parent / name
    folder.mkdir()
    return folder


def test_group_of_one_that_is_gone_is_removed_with_those_below_it(parent):
    folder = made(parent, BEFORE_US.new_name())
    made(folder, "below")

    remove_stale_groups()

    assert not folder.exists()


@pytest.mark.parametrize(
    "name",
    [
        HERE.new_name(),
        HERE._replace(namespace=HERE.namespace + 1, started=1).new_name(),
        BEFORE_US._replace(namespace=0).new_name(),
        f"my-{BEFORE_US.new_name()}",
        "lowwater-12-1",
        "lowwater",
    ],
    ids=["living", "elsewhere", "nowhere", "renamed", "older", "foreign"],
)
def test_group_of_another_is_left_alone(parent, name):
    folder = made(parent, name)

    remove_stale_groups()

    assert folder.exists()


def test_group_of_another_user_is_left_alone(parent, monkeypatch):
    folder = made(parent, BEFORE_US.new_name())
    monkeypatch.setattr(control_group.os, "geteuid", lambda: folder.stat().st_uid + 1)

    remove_stale_groups()

    assert folder.exists()


def test_only_the_groups_of_the_one_that_is_meant_are_removed(parent):
    of_one, of_other = made(parent, HERE.new_name()), made(parent, BEFORE_US.new_name())

    remove_groups_of(HERE)

    assert (of_one.exists(), of_other.exists()) == (False, True)


@pytest.mark.parametrize(
    ("files", "killed"),
    [
        # Zero is one of another namespace; to the kernel it would mean all of our own.
        ({"cgroup.procs": "0\n4000001\n"}, [(4000001, signal.SIGKILL)]),
        ({"cgroup.procs": "4000001\n", "cgroup.kill": ""}, []),
    ],
)
def test_all_in_a_group_are_ended_and_nobody_else(parent, monkeypatch, files, killed):
    folder, asked = made(parent, BEFORE_US.new_name()), []
    for name, text in files.items():
        (folder / name).write_text(text)
    monkeypatch.setattr(control_group.os, "kill", lambda *what: asked.append(what))

    control_group.remove(str(folder))

    assert asked == killed
    if "cgroup.kill" in files:
        assert (folder / "cgroup.kill").read_text() == "1"
