"""Signals reach the program as they would without us: all of them, once, at the program's line."""

import os
import signal
import time

import pytest

from lowwater.recording.reader import load


def test_no_exception_of_a_handler_is_lost_in_a_collection(programs):
    programs.write(
        "alarms.py",
        """\
        import gc, signal, time

        class Time(Exception): pass

        def handler(number, frame): raise Time

        signal.signal(signal.SIGALRM, handler)
        big = [[i] for i in range(500_000)]

        def collect(delay):
            try:
                signal.setitimer(signal.ITIMER_REAL, delay)
                gc.collect()
                time.sleep(5)
                return "lost"
            except Time:
                return "raised"

        for tenths in range(1, 40):
            answer = collect(tenths / 1000)
            if answer != "raised": print(tenths, answer)
        """,
    )

    run = programs.watch("alarms.py")

    assert (run.stdout, run.returncode) == ("", 0)
    assert "Exception ignored" not in run.stderr


STORM = """\
    import signal, time

    class Time(Exception): pass

    handled = raised = number = 0

    def handler(*_):
        global handled
        handled += 1
        raise Time

    def train():
        global number
        for number in range(number, 300):
            kept.append(bytearray(300_000))
            time.sleep(0.001)

    def attempt():
        global raised
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.003)
            train()
            signal.setitimer(signal.ITIMER_REAL, 0)
            return True
        except Time:
            raised += 1

    signal.signal(signal.SIGALRM, handler)
    kept, junk = [], [[i] for i in range(100_000)]
    while not attempt(): pass
    print(handled == raised, handled > 20)
"""


def test_every_signal_of_a_storm_is_raised_in_the_program(programs):
    programs.write("storm.py", STORM)

    run = programs.watch("storm.py")

    assert run.stdout == "True True\n"
    assert run.returncode == 0
    assert "Exception ignored" not in run.stderr
    assert "StopIteration" not in run.stderr


def test_what_a_handler_raises_inside_our_code_has_the_programs_traceback_alone(programs):
    programs.write(
        "traceback_only.py",
        """\
        import os, signal, sys, time

        # Sent by our own probe, as soon as it is read: the handler interrupts our code.
        import lowwater.probes.host as host
        read = host.HostProbe.read

        def interrupted(self):
            if armed:
                armed.clear()
                os.kill(os.getpid(), signal.SIGUSR1)
            return read(self)

        host.HostProbe.read = interrupted
        armed = []

        def handler(number, frame):
            raise TimeoutError("too slow")

        signal.signal(signal.SIGUSR1, handler)
        for i in range(50):
            if i == 20: armed.append(1)
            time.sleep(0.002)
        """,
    )

    run = programs.watch("traceback_only.py")

    assert run.returncode == 1
    printed = run.stderr[: run.stderr.index("TimeoutError: too slow")].splitlines()
    frames = [line.strip().split('"')[-1] for line in printed if line.strip().startswith("File")]
    assert frames == [", line 20, in <module>", ", line 17, in handler"]


GENTLE = """\
    import signal, sys, time

    def handler(number, frame):
        print("handler", number, flush=True)

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGINT):
        signal.signal(number, handler)
    print("ready", flush=True)
    for i in range(100):
        time.sleep(0.02)
    sys.exit(42)
"""
ALL = [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGINT]


@pytest.mark.parametrize("to_group", [False, True], ids=["to us alone", "to the group"])
@pytest.mark.parametrize("number", ALL, ids=lambda number: number.name)
def test_a_signal_reaches_the_program_once(programs, number, to_group):
    programs.write("gentle.py", GENTLE)
    process = programs.popen("run", "gentle.py", start_new_session=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)  # the supervisor has still to import what it needs, or has done so
    (os.killpg if to_group else os.kill)(process.pid, number)
    stdout, stderr = process.communicate(timeout=60)

    assert stdout == f"handler {int(number)}\n"
    assert process.returncode == 42
    assert "iterations" in stderr


@pytest.mark.parametrize("delay_s", [0.0, 0.05, 0.15, 0.3])
def test_a_signal_to_the_group_at_any_time_costs_no_verdict(programs, delay_s):
    programs.write(
        "ends.py",
        """\
        import time
        print("ready", flush=True)
        for i in range(20):
            time.sleep(0.001)
        """,
    )
    process = programs.popen("run", "--record", "run.lw", "ends.py", start_new_session=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(delay_s)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=60)

    assert process.returncode in (0, 130)
    assert "Aborted" not in stderr
    assert "iterations" in stderr or "no round trip" in stderr.lower()
    assert load(programs.folder / "run.lw").ending is not None


def test_a_program_that_ignores_interrupts_goes_on_however_many_there_are(programs):
    programs.write(
        "stubborn.py",
        """\
        import time
        print("ready", flush=True)
        for i in range(60):
            time.sleep(0.02)
        print("survived")
        """,
    )
    process = programs.popen(
        "run",
        "stubborn.py",
        start_new_session=True,
        first="trap '' INT",
    )
    assert process.stdout.readline() == "ready\n"
    for _ in range(3):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.1)
    stdout, _ = process.communicate(timeout=60)

    assert (stdout, process.returncode) == ("survived\n", 0)


def test_nothing_of_ours_outlives_a_run(programs):
    programs.write("short.py", "print('done')\n")
    process = programs.popen("run", "short.py", start_new_session=True)
    process.communicate(timeout=60)

    # The witness ends when its pipe does, which is a moment later.
    for _ in range(1000):
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)
    pytest.fail("a process of the group is still there")
