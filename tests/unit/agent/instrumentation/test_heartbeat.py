"""A beat comes with the collections, in the main thread, and is no part of them."""

import gc
import os
import signal
import sys
import threading

import pytest

from lowwater.agent.instrumentation.heartbeat import heart_beating


def collect(times=40):
    for _ in range(times):
        gc.collect(0)


def test_it_beats_once_in_some_collections():
    beats = []
    with heart_beating(lambda: beats.append(1)):
        collect(80)
        during = len(beats)
        collect(0)
    collect(80)

    assert 8 <= during <= 12
    assert len(beats) == during


def test_nothing_runs_while_the_collector_does():
    seen = []

    def beat():
        seen.append(sys._getframe(2).f_code.co_name)

    with heart_beating(beat):
        callback = gc.callbacks[-1]
        frames = []
        sys.setprofile(lambda frame, event, _: frames.append(event) if event == "call" else None)
        for _ in range(7):
            callback("start", {})
            callback("stop", {})
        sys.setprofile(None)
        collect()

    assert len(frames) <= 2  # the beat itself, behind the callback
    assert seen


def test_it_beats_in_the_main_thread_whoever_collects():
    threads = []
    with heart_beating(lambda: threads.append(threading.current_thread())):
        worker = threading.Thread(target=collect)
        worker.start()
        worker.join()
        collect(1)

    assert set(threads) == {threading.main_thread()}


def test_a_beat_that_fails_is_nobodys_concern():
    def fails():
        raise RuntimeError

    with heart_beating(fails):
        collect()


def test_what_a_signal_handler_raises_in_a_beat_reaches_the_program_without_our_frames():
    class Time(Exception):
        pass

    def handler(signal_number, frame):
        raise Time

    def beat():
        os.kill(os.getpid(), signal.SIGUSR1)
        for _ in range(100):
            pass

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        with heart_beating(beat), pytest.raises(Time) as caught:
            collect()
    finally:
        signal.signal(signal.SIGUSR1, before)

    entry, names = caught.value.__traceback__, []
    while entry is not None:
        names.append(entry.tb_frame.f_code.co_name)
        entry = entry.tb_next
    assert names[-1] == "handler"
    assert not {"__bool__", "beat"} & {*names}
