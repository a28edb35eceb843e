"""All processes of a trial: it may have started others, which must not outlive it."""

import contextlib
import os
import signal
from collections.abc import Iterable

# What is killed may just have started another: looked at again until nothing is left.
_MOST_SWEEPS = 20
# Not all kernels have it, and few sandboxes.
_LISTED = "/proc/thread-self/children"


def children_of(process: int) -> list[int]:
    """The direct children, as the kernel lists them, or as their own entries say."""
    if not os.path.exists(_LISTED):
        return [one for one in _processes() if _parent_of(one) == process]
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/children", encoding="ascii") as file:
                found += map(int, file.read().split())
    return found


def tree_of(process: int) -> list[int]:
    """The process and all below it."""
    found, waiting = [], [process]
    while waiting:
        one = waiting.pop()
        found.append(one)
        waiting += children_of(one)
    return found


def kill_tree(process: int) -> None:
    """End it with all below it. Stopped first: one that is dying cannot start another."""
    for one in tree_of(process):
        _signal(one, signal.SIGSTOP)
    for one in tree_of(process):
        _signal(one, signal.SIGKILL)


def kill_orphans(of: int, known: Iterable[int]) -> None:
    """End what a dead trial has left to this process, and take note of their end.

    Trials adopt the orphans below them for as long as they live, so what is unknown here
    belonged to one that is dead.
    """
    known = {*known}
    for _ in range(_MOST_SWEEPS):
        orphans = [one for one in children_of(of) if one not in known]
        if not orphans:
            return
        for one in orphans:
            kill_tree(one)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(one, 0)


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _parent_of(process: int) -> int | None:
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            # The name of the program, in brackets, may hold anything.
            return int(file.read().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None


def _signal(process: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(process, number)
