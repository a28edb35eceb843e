"""A program that grows, is interrupted, imports, forks and ends; it tells all that it has seen."""

import gc
import os
import signal
import sys
import time

import lowwater

ROUNDS = 36
kept, results, statuses = [], [], []
handled = raised = 0


class Stop(Exception):
    pass


def handler(_number, _frame):
    global handled
    handled += 1
    raise Stop


def step(number):
    import mine

    if len(kept) <= number:
        kept.append(bytearray(700_000))
    cycle = [number]
    cycle.append(cycle)
    return mine.total(number) + len(kept[number])


def train():
    for number in range(len(results), ROUNDS):
        results.append(step(number))
        if number % 12 == 0:
            gc.collect()
        time.sleep(0.004)
        lowwater.boundary("round")


def fork():
    pid = os.fork()
    if pid == 0:
        for number in range(20):
            len(str(number))
        os._exit(3)
    statuses.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def stubbornly(action):
    """Until it is done, however often it is interrupted."""
    global raised
    try:
        return action()
    except (Stop, KeyboardInterrupt) as error:
        raised += 1
        frames, entry = [], error.__traceback__
        while entry is not None:
            frames.append(entry.tb_frame.f_code.co_filename)
            entry = entry.tb_next
        # The program itself has called `boundary`.
        ours = [one for one in frames if "/lowwater/" in one and not one.endswith("explicit.py")]
        if ours:
            print("frames of Lowwater in a traceback:", ours)
        return stubbornly(action)


signal.signal(signal.SIGUSR1, handler)
stubbornly(train)
stubbornly(fork)
print("results", results)
print("statuses", statuses, "kept", len(kept), "collector", gc.isenabled())
print("signals", handled, raised)
sys.exit(7)
