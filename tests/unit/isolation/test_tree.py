"""All processes below one are found and ended."""

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
