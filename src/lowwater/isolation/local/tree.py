"""All processes of a trial: it may have started others, which must not outlive it."""

import contextlib
import os
import signal
from collections.abc import Iterable

# What is killed may just have started another: looked at again until nothing is left.
_MOST_SWEEPS = 20
# Not all kernels have it, and few sandboxes.
_LISTED = "/proc/thread-self/children"
_DEAD = {"Z", "X"}


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


def kill_session(leader: int, started: int) -> None:
    """End what is left of a session, as far as nobody has left it.

    The kernel gives the number of its leader to no other process while one of them lives. If
    another has it, none does.
    """
    if started_at(leader) not in {None, started}:
        return
    for _ in range(_MOST_SWEEPS):
        left = [one for one in _processes() if _is_of_session(one, leader)]
        if not left:
            return
        for one in left:
            _signal(one, signal.SIGKILL)


def started_at(process: int) -> int | None:
    """When it began, in ticks since the machine did: with its number, no other is like it."""
    fields = _fields(process)
    return int(fields[19]) if fields else None


def is_alive(process: int, started: int) -> bool:
    """Whether it is this one that has the number, and is not just waiting to be buried."""
    fields = _fields(process)
    return bool(fields) and int(fields[19]) == started and fields[0] not in _DEAD


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _parent_of(process: int) -> int | None:
    fields = _fields(process)
    return int(fields[1]) if fields else None


def _is_of_session(process: int, leader: int) -> bool:
    fields = _fields(process)
    return bool(fields) and int(fields[3]) == leader and fields[0] not in _DEAD


def _fields(process: int) -> list[str]:
    """What the kernel tells of it, from its state on; nothing if it is gone."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            # The name of the program, in brackets, may hold anything.
            return file.read().rpartition(")")[2].split()
    except OSError:
        return []


def _signal(process: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(process, number)
