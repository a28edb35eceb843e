"""What a signal handler of the program raises inside our code is told from what we raise."""

import os
import signal
import sys
from contextlib import contextmanager
from functools import partial

import pytest

from lowwater.model import interruption
from lowwater.model.interruption import is_programs, let_through, must_be_raised, quietly
from lowwater.recording import frames


class Time(Exception):
    pass


@contextmanager
def handling(handler):
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, before)


def interrupted():
    os.kill(os.getpid(), signal.SIGUSR1)
    for _ in range(100):
        pass


def raises(signal_number, frame):
    raise Time


def raises_with_stars(*_):
    raise TimeoutError


def raises_deeper(signal_number, frame):
    raises(None, None)


class Handler:
    def method(self, signal_number, frame):
        raise Time

    def __call__(self, signal_number, frame):
        raise Time


@pytest.mark.parametrize(
    "handler",
    [
        raises,
        raises_with_stars,
        raises_deeper,
        lambda number, frame: raises(0, 0),
        Handler().method,
        Handler(),
        partial(raises),
        signal.default_int_handler,
    ],
)
def test_what_a_handler_raises_is_the_programs(handler):
    with handling(handler), pytest.raises((Time, TimeoutError, KeyboardInterrupt)) as caught:
        interrupted()

    assert is_programs(caught.value)


def fails():
    raise Time


@pytest.mark.parametrize("action", [fails, lambda: int("x"), lambda: frames.frame(None)])
def test_what_our_code_raises_is_ours(action):
    with pytest.raises(Exception) as caught:  # noqa: PT011 - of any kind
        action()

    assert not is_programs(caught.value)


def test_ours_is_suppressed_and_the_programs_is_not():
    with quietly():
        fails()
    with quietly(OSError):
        os.stat("/no such file")
    with pytest.raises(Time), quietly(OSError):
        fails()
    with handling(raises_with_stars), pytest.raises(TimeoutError), quietly(OSError):
        interrupted()


def test_an_exit_is_always_the_programs():
    with pytest.raises(SystemExit):
        let_through(SystemExit(3))
    let_through(MemoryError())


def in_the_program(action):
    """As the code that is placed into the program calls us."""
    try:
        action()
    except BaseException:
        if must_be_raised():
            raise


def test_a_failure_of_ours_becomes_a_note(monkeypatch):
    notes = []
    monkeypatch.setattr(interruption, "_listeners", [notes.append])
    in_the_program(fails)

    assert notes == ["a part of Lowwater failed: Time: "]


def test_the_programs_exception_goes_on_without_the_frames_between():
    with handling(raises), pytest.raises(Time) as caught:
        in_the_program(interrupted)

    entry, names = caught.value.__traceback__, []
    while entry is not None:
        names.append(entry.tb_frame.f_code.co_name)
        entry = entry.tb_next
    assert names[-2:] == ["in_the_program", "raises"]


def test_a_program_deep_in_recursion_is_not_told_that_we_found_no_room(monkeypatch):
    monkeypatch.setattr(interruption, "_listeners", [lambda text: fails()])

    def deeper(depth):
        if depth:
            return deeper(depth - 1)
        in_the_program(lambda: deeper(sys.getrecursionlimit()))
        return "done"

    assert deeper(10) == "done"
