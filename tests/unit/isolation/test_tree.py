"""All processes below one are found and ended."""

import os
import select
import signal
import subprocess
import sys

import pytest

from lowwater.isolation.local import tree

# A child that has a child of its own, and tells both.
PROGRAM = """\
import os, subprocess, sys, time
below = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
print(os.getpid(), below.pid, flush=True)
time.sleep(100)
"""


@pytest.fixture
def family():
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE) as process:
        yield [*map(int, process.stdout.readline().split())]
        tree.kill_tree(process.pid)


@pytest.fixture(params=["listed by the kernel", "found by their parents"])
def either_way(request, monkeypatch):
    if request.param != "listed by the kernel":
        monkeypatch.setattr(tree, "_LISTED", "/proc/no-such-list")


@pytest.mark.usefixtures("either_way")
def test_tree_is_the_process_and_all_below_it(family):
    assert tree.tree_of(family[0]) == family


@pytest.mark.usefixtures("either_way")
def test_process_that_is_gone_has_no_children():
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()

    assert tree.children_of(gone.pid) == []


@pytest.fixture
def session():
    """A leader that has ended, and a member that has not."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, start_new_session=True
    ) as leader:
        _, member = map(int, leader.stdout.readline().split())
        began = tree.started_at(leader.pid)
        leader.kill()
    yield leader.pid, began, member
    if tree.started_at(member) is not None:
        os.kill(member, signal.SIGKILL)


def test_session_is_ended_though_its_leader_is_dead(session):
    leader, began, member = session
    ended = os.pidfd_open(member)

    tree.kill_session(leader, began)

    # The kernel ends it when it next gets a processor: on a busy machine that takes a moment.
    assert select.select([ended], [], [], 60) == ([ended], [], [])
    os.close(ended)


def test_session_of_another_that_has_got_the_number_is_left_alone():
    program = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(program, stdout=subprocess.PIPE, start_new_session=True) as leader:
        leader.stdout.readline()
        began = tree.started_at(leader.pid)

        tree.kill_session(leader.pid, began - 1)

        assert tree.is_alive(leader.pid, began)
        tree.kill_tree(leader.pid)


def test_number_that_another_has_got_is_not_the_one_that_was_meant(family):
    began = tree.started_at(family[0])

    assert tree.is_alive(family[0], began)
    assert not tree.is_alive(family[0], began - 1)


def test_process_that_waits_to_be_buried_is_not_alive():
    process = os.fork()
    if process == 0:
        os._exit(0)
    os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)

    assert not tree.is_alive(process, tree.started_at(process))
    os.waitpid(process, 0)
