"""A step that only waits for memory is ended; one that computes, or has room, is not."""

import threading
import time

import pytest

from lowwater.sizing.backends import _vain_wait
from lowwater.sizing.backends._vain_wait import VainWait


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Looks come so quickly that a test can wait for some hundred of them."""
    monkeypatch.setattr(_vain_wait, "_APART_S", 0.01)
    # Other threads of this process may run while a test sleeps.
    monkeypatch.setattr(_vain_wait, "_threads_that_run", lambda: iter(()))


def watched(in_use):
    ended = threading.Event()
    return VainWait(lambda: in_use, 100, lambda _: ended.set()), ended


def test_step_that_sleeps_in_a_full_pool_is_ended():
    wait, ended = watched(90)
    wait.begin()

    assert ended.wait(30)


def test_step_that_sleeps_with_room_to_spare_is_left_alone():
    wait, ended = watched(10)
    wait.begin()

    assert not ended.wait(0.5)


def test_time_between_steps_does_not_count():
    wait, ended = watched(90)
    wait.begin()
    wait.done()

    assert not ended.wait(0.5)


def test_step_that_has_followed_another_has_a_time_of_its_own():
    wait, ended = watched(10)
    wait.begin()
    now = time.process_time()

    assert not wait._is_vain(1, now)
    wait._in_use = lambda: 90
    assert wait._is_vain(1, now) or ended.is_set()
    wait.done()
    wait.begin()
    assert not wait._is_vain(1, now)


def test_thread_that_runs_or_waits_for_a_processor_is_seen(monkeypatch):
    monkeypatch.undo()
    until = threading.Event()

    def busy():
        while not until.is_set():
            sum(range(1000))

    thread = threading.Thread(target=busy)
    assert not all(_vain_wait._threads_that_run())
    thread.start()
    try:
        assert any(any(_vain_wait._threads_that_run()) for _ in range(1000))
    finally:
        until.set()
        thread.join()
