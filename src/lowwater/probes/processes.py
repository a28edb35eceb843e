"""Asks the system about processes that are not ours to look into: whose, since when, how busy.

A process may end while it is asked, or belong to somebody whose processes are hidden. Then the
answer is the reason.
"""

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar

from lowwater.model import NotMeasured
from lowwater.model.interruption import let_through
from lowwater.model.processes import Process

if TYPE_CHECKING:
    import psutil

T = TypeVar("T")

ENDED: Final = "the process has ended"
_DENIED: Final = "the system does not permit it"
_INIT: Final = 1
_ADOPTS: Final = "its parent starts services, and also adopts processes whose parent has ended"


def process(pid: int) -> Process | NotMeasured:
    """What can be known of it without its permission."""
    import psutil

    return _asked(lambda: _seen(psutil.Process(pid)))


def _seen(one: "psutil.Process") -> Process:
    # The one answer that no process goes without: it fails if there is none.
    began_s = one.create_time()
    return Process(
        one.pid,
        began_s,
        max(0.0, time.time() - began_s),
        _asked(one.username),
        _asked(lambda: one.uids().real == os.getuid()),
        _asked(lambda: _arguments(one)),
        _asked(lambda: _is_parent_gone(one)),
        _asked(lambda: _cpu_s(one)),
    )


def _arguments(one: "psutil.Process") -> tuple[str, ...]:
    """Programs may leave their command line empty; their name is left then."""
    return tuple(one.cmdline()) or (one.name(),)


def _is_parent_gone(one: "psutil.Process") -> bool | NotMeasured:
    """A process is born into the session of its parent, unless it begins one of its own.

    So one that has not, and whose parent is of another session, was adopted. One that has may
    have been started by the process that adopts orphans here: nothing shows the difference.
    """
    parent, session = one.ppid(), os.getsid(one.pid)
    if parent and session != one.pid and session != os.getsid(parent):
        return True
    return NotMeasured(_ADOPTS) if _adopts(parent) else False


def _adopts(pid: int) -> bool:
    import psutil

    return pid == _INIT or (pid > 0 and psutil.Process(pid).name() == "systemd")


def _cpu_s(one: "psutil.Process") -> float:
    """What its children used before they ended is booked with their parent."""
    below = (_asked(each.cpu_times) for each in one.children(recursive=True))
    every = (one.cpu_times(), *(each for each in below if not isinstance(each, NotMeasured)))
    return sum(
        each.user + each.system + each.children_user + each.children_system for each in every
    )


def _asked(question: Callable[[], T]) -> T | NotMeasured:
    try:
        return question()
    except Exception as error:  # noqa: BLE001 - a system that hides processes may fail anyhow
        let_through(error)
        return NotMeasured(_reason(error))


def _reason(error: Exception) -> str:
    import psutil

    if isinstance(error, psutil.NoSuchProcess | ProcessLookupError):
        return ENDED
    if isinstance(error, psutil.AccessDenied | PermissionError):
        return _DENIED
    return f"{type(error).__name__}: {error}"
