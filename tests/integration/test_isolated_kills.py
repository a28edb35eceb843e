"""Whoever is killed, at whatever moment: no process and no control group of a call is left."""

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import psutil
import pytest

from lowwater.isolation.local import control_group
from lowwater.isolation.local.memory_limit import ControlGroup

LONGEST_WAIT_S = 60

# Each call starts others: one that stays, one that leaves the session, one that is forked twice.
PROGRAM = """\
import os, subprocess, sys, time, lowwater

def trial(number):
    subprocess.Popen(["sleep", "300"])
    subprocess.Popen(["sleep", "300"], start_new_session=True)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(300)
        os._exit(0)
    os.write(1, b"up\\n")
    time.sleep(300)

memory = sys.argv[1] if len(sys.argv) > 1 else None
lowwater.map(trial, [1, 2], workers=2, memory=memory, progress=False)
"""


SLOW_TO_IMPORT = """\
import lowwater
lowwater.isolated(abs, preload=["slow"])(-1)
"""


class Family:
    """A program and all that it has started, which are known by a variable."""

    def __init__(self, folder: Path, memory: str | None = None, program: str = PROGRAM) -> None:
        self._sign = uuid.uuid4().hex
        script = folder / "script.py"
        script.write_text(program)
        self.caller = subprocess.Popen(
            [sys.executable, str(script), *([memory] if memory else [])],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={**os.environ, "LOWWATER_TEST_SIGN": self._sign},
        )
        self._caller = psutil.Process(self.caller.pid)
        self._seen = {self.caller.pid}

    def living(self):
        """All that bear the sign."""
        self.caller.poll()
        found = [one for one in psutil.process_iter() if self._is_ours(one)]
        self._seen |= {one.pid for one in found}
        return found

    def groups(self):
        """The control groups of those that were ever seen."""
        return [
            folder
            for folder, owner in control_group._groups_of_ours()
            if owner.process in self._seen
        ]

    def below(self, generations):
        """The first process so many generations below the caller, once it is there."""
        one = [self._caller]
        for _ in range(generations):
            one = wait_for(lambda parents=one: self._children(parents[0]))
        return one[0]

    def keeper(self):
        return self.below(1)

    def has_another(self, keeper):
        return any(one != keeper for one in self._children(self._caller))

    def server(self):
        return self.below(2)

    def child(self):
        return self.below(3)

    def wait_until_up(self):
        for _ in range(2):
            assert self.caller.stdout.readline() == b"up\n"
        self.living()

    def end(self):
        self.caller.kill()
        try:
            wait_for(lambda: not self.living() and not self.groups())
        finally:
            for one in self.living():
                with contextlib.suppress(psutil.NoSuchProcess):
                    one.kill()
            self.caller.wait()
            self.caller.stdout.close()

    def _children(self, parent):
        try:
            return [one for one in parent.children() if self._is_ours(one)]
        except psutil.NoSuchProcess:
            return []

    def _is_ours(self, process):
        try:
            is_dead = process.status() == psutil.STATUS_ZOMBIE
            return not is_dead and process.environ().get("LOWWATER_TEST_SIGN") == self._sign
        except psutil.Error:
            return False


def wait_for(condition):
    deadline = time.monotonic() + LONGEST_WAIT_S
    while not (found := condition()):
        assert time.monotonic() < deadline, "it does not come true"
        time.sleep(0.01)
    return found


@pytest.fixture(params=[None, "300 MB"], ids=["free", "limited"])
def family(request, tmp_path):
    one = Family(tmp_path, request.param)
    yield one
    one.end()


@pytest.fixture
def limited_family(tmp_path):
    group = ControlGroup.make(1 << 30)
    if group is None:
        pytest.skip("control groups cannot be made here")
    group.close()
    one = Family(tmp_path, "300 MB")
    yield one
    one.end()


def nothing_is_left(family):
    return not family.living() and not family.groups()


@pytest.mark.parametrize("victim", ["caller", "keeper", "server", "child"])
def test_nothing_is_left_when_one_is_killed_in_mid_call(family, victim):
    family.wait_until_up()

    (family.caller if victim == "caller" else getattr(family, victim)()).kill()

    wait_for(lambda: nothing_is_left(family))


@pytest.mark.parametrize("moment", ["keeper", "server", "child"])
def test_nothing_is_left_when_the_caller_is_killed_as_soon_as_others_are_there(family, moment):
    getattr(family, moment)()

    family.caller.kill()

    wait_for(lambda: nothing_is_left(family))


@pytest.mark.parametrize("victim", ["keeper", "server", "child"])
def test_nothing_is_left_when_it_is_killed_as_soon_as_it_is_there(family, victim):
    keeper = family.keeper()

    getattr(family, victim)().kill()

    # If nothing of the calls was run yet, they are made by another server.
    wait_for(lambda: nothing_is_left(family) or family.has_another(keeper))
    family.living()
    family.caller.kill()
    wait_for(lambda: nothing_is_left(family))


def test_nothing_is_left_when_caller_and_server_are_killed_at_once(family):
    family.wait_until_up()

    stop_and_kill(family.server().pid, family.caller.pid)

    wait_for(lambda: nothing_is_left(family))


def test_server_that_imports_does_not_outlive_its_caller(tmp_path):
    (tmp_path / "slow.py").write_text("import time; open('begun', 'w'); time.sleep(300)")
    family = Family(tmp_path, program=SLOW_TO_IMPORT)
    wait_for((tmp_path / "begun").exists)

    family.caller.kill()

    wait_for(lambda: nothing_is_left(family))
    family.end()


def test_caller_ends_what_is_in_a_group_when_keeper_and_server_are_killed_at_once(limited_family):
    limited_family.wait_until_up()

    stop_and_kill(limited_family.keeper().pid, limited_family.server().pid)

    wait_for(lambda: nothing_is_left(limited_family))


def test_next_engine_ends_what_is_in_a_group_when_all_were_killed_at_once(limited_family):
    family = limited_family
    family.wait_until_up()
    stop_and_kill(family.keeper().pid, family.server().pid, family.caller.pid)
    wait_for(lambda: family.caller.poll() is not None)

    program = "import lowwater; print(lowwater.isolated(abs)(-1))"
    assert subprocess.check_output([sys.executable, "-c", program]) == b"1\n"

    wait_for(lambda: nothing_is_left(family))


def test_group_of_another_that_lives_is_left_alone(limited_family):
    limited_family.wait_until_up()
    before = limited_family.groups()

    program = "import lowwater; print(lowwater.isolated(abs, memory='300 MB')(-1))"
    assert subprocess.check_output([sys.executable, "-c", program]) == b"1\n"

    assert sorted(limited_family.groups()) == sorted(before)
    assert len(before) == 2


def stop_and_kill(*processes):
    """As one: none of them sees another die."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for one in processes:
            os.kill(one, number)
