"""Signals for the program are held back, and a witness knows which the whole group was sent."""

import os
import signal
import subprocess
import sys

import pytest

from lowwater.signals import Witness, drop_held, for_the_program, held_back, held_by_us


def test_held_signals_wait_and_can_be_dropped():
    with held_back():
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
        assert {signal.SIGINT, signal.SIGTERM} <= signal.sigpending()
        assert signal.SIGINT in held_by_us()
        drop_held()

    assert held_by_us() == frozenset()
    assert not signal.sigpending()


def test_what_is_not_dropped_comes_when_it_is_over():
    with pytest.raises(KeyboardInterrupt), held_back():
        os.kill(os.getpid(), signal.SIGINT)


def test_holding_them_twice_is_holding_them_once():
    with held_back():
        held = held_by_us()
        with held_back():
            assert held_by_us() == held
        assert held_by_us() == held
        assert signal.SIGTERM in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_what_is_ignored_from_the_start_is_left_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert signal.SIGHUP not in for_the_program()
    finally:
        signal.signal(signal.SIGHUP, before)


# In a process and a group of its own: a signal to the group of the tests would end them.
WITNESSED = """
import os, signal
from lowwater.signals import Witness, held_back
with held_back():
    witness = Witness()
    (os.killpg if {to_group} else os.kill)(os.getpid(), signal.{name})
    assert signal.sigtimedwait({{signal.{name}}}, 5) is not None
    print(witness.saw(signal.{name}), witness.saw(signal.{name}))
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGQUIT"])
@pytest.mark.parametrize("to_group", [True, False])
def test_witness_knows_what_the_group_was_sent(name, to_group):
    done = subprocess.run(
        [sys.executable, "-c", WITNESSED.format(name=name, to_group=to_group)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        start_new_session=True,
    )

    assert (done.stdout, done.stderr) == (f"{to_group} False\n", "")


def test_no_more_processes_is_no_reason_to_fail(monkeypatch):
    def refused():
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", refused)

    assert Witness.if_possible() is None
