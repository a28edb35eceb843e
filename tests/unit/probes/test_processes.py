"""Real processes, seen from outside."""

import os
import subprocess
import sys

import pytest

from lowwater.model import NotMeasured
from lowwater.probes.processes import process

WAITS = "import sys; print('ready', flush=True); sys.stdin.read()"


@pytest.fixture
def started():
    """Starts programs that wait for the end of their input; all have ended afterwards."""
    running = []

    def start(source=WAITS, **options):
        one = subprocess.Popen(
            [sys.executable, "-c", source],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            **options,
        )
        running.append(one)
        return one, one.stdout.readline().strip()

    yield start
    for one in running:
        one.kill()
        one.communicate()


def test_own_process_is_told_in_full():
    seen = process(os.getpid())

    assert (seen.pid, seen.is_own_user) == (os.getpid(), True)
    assert seen.age_s > 0
    assert seen.cpu_s > 0
    assert isinstance(seen.arguments, tuple)


def test_child_has_a_parent_and_its_arguments(started):
    one, _ = started()

    seen = process(one.pid)

    assert seen.is_parent_gone is False
    assert seen.arguments == (sys.executable, "-c", WAITS)
    assert process(one.pid).began_s == seen.began_s


def test_process_whose_parent_was_killed_was_adopted(started):
    starts = (
        "import subprocess, sys\n"
        f"one = subprocess.Popen([sys.executable, '-c', {WAITS!r}], stdout=subprocess.PIPE)\n"
        "one.stdout.readline()\nprint(one.pid, flush=True)\none.wait()"
    )
    parent, pid = started(starts, start_new_session=True)
    before = process(int(pid))
    parent.kill()
    parent.wait()

    assert (before.is_parent_gone, process(int(pid)).is_parent_gone) == (False, True)


def test_leader_of_a_session_below_its_parent_was_not_adopted(started):
    one, _ = started(start_new_session=True)

    assert process(one.pid).is_parent_gone is False


def test_work_of_a_child_is_its_parents_too(started):
    works = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {{!r}}])\n{WAITS}"
    one, _ = started(works.format("sum(range(3_000_000))"))
    idle, _ = started()

    assert process(one.pid).cpu_s > process(idle.pid).cpu_s


def test_process_that_has_ended_is_told_as_ended(started):
    one, _ = started()
    one.kill()
    os.waitid(os.P_PID, one.pid, os.WEXITED | os.WNOWAIT)
    dead = process(one.pid)
    one.wait()

    assert dead.arguments == NotMeasured("the process has ended")
    assert process(one.pid) == NotMeasured("the process has ended")


@pytest.mark.parametrize("pid", [-1, 0, 2**22 + 1, 2**70])
def test_number_of_no_process_has_a_reason(pid):
    assert isinstance(process(pid), NotMeasured)
