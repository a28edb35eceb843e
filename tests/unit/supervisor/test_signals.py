"""Signals for the program are held back, and a witness knows which the whole group was sent."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from lowwater.supervisor.signals import Witness, for_the_program


def in_a_process(text):
    """Of its own, and in a group of its own: other threads and processes would get the signals."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        start_new_session=True,
    )
    return done.stdout, done.stderr[-200:]


def test_held_signals_wait_and_can_be_dropped():
    told = in_a_process("""
        import os, signal
        from lowwater.supervisor.signals import drop_held, held_back, held_by_us
        with held_back():
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGTERM)
            print(len(signal.sigpending()), signal.SIGINT in held_by_us())
            drop_held()
        print(len(signal.sigpending()), len(held_by_us()))
        """)

    assert told == ("2 True\n0 0\n", "")


def test_what_is_not_dropped_comes_when_it_is_over():
    stdout, stderr = in_a_process("""
        import os, signal
        from lowwater.supervisor.signals import held_back
        with held_back():
            os.kill(os.getpid(), signal.SIGINT)
            print("held")
        print("never")
        """)

    assert stdout == "held\n"
    assert "KeyboardInterrupt" in stderr


def test_holding_them_twice_is_holding_them_once():
    told = in_a_process("""
        import signal
        from lowwater.supervisor.signals import held_back, held_by_us
        with held_back():
            held = held_by_us()
            with held_back():
                print(held_by_us() == held)
            print(held_by_us() == held, held <= signal.pthread_sigmask(signal.SIG_BLOCK, ()))
        """)

    assert told == ("True\nTrue True\n", "")


def test_what_is_ignored_from_the_start_is_left_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert signal.SIGHUP not in for_the_program()
    finally:
        signal.signal(signal.SIGHUP, before)


WITNESSED = """
import os, signal
from lowwater.supervisor.signals import Witness, held_back
with held_back():
    witness = Witness()
    (os.killpg if {to_group} else os.kill)(os.getpid(), signal.{name})
    assert signal.sigtimedwait({{signal.{name}}}, 5) is not None
    print(witness.saw(signal.{name}), witness.saw(signal.{name}))
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGQUIT"])
@pytest.mark.parametrize("to_group", [True, False])
def test_witness_knows_what_the_group_was_sent(name, to_group):
    told = in_a_process(WITNESSED.format(name=name, to_group=to_group))

    assert told == (f"{to_group} False\n", "")


def test_no_more_processes_is_no_reason_to_fail(monkeypatch):
    def refused():
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", refused)

    assert Witness.if_possible() is None
