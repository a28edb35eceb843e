"""Outlives the server, to end what that leaves behind when it is killed.

The kernel ends a trial with the server, but not what the trial has started. All of it becomes the
keeper's own, however it was started, because the keeper adopts orphans. The keeper in its turn may
be killed: then the server is told by the kernel, and ends with all its trials.
"""

import contextlib
import os
import resource
import signal
from typing import NoReturn

from lowwater.isolation.local.control_group import Owner, remove_groups_of, remove_stale_groups
from lowwater.isolation.local.kinship import adopt_orphans, be_signalled_with_parent
from lowwater.isolation.local.tree import kill_orphans

# How often to look for the caller, and how often it may be missed before the server, which ends
# by itself unless it is busy with an import, is killed.
_LOOK_S = 1.0
_MOST_MISSES = 2
_HEARD = {signal.SIGCHLD, signal.SIGTERM}


def go_on_below_a_keeper(caller: int, requests: int) -> None:
    """Return in a new process; this one keeps it, and never returns.

    Without a keeper where there cannot be one: a fork would lose the threads that the start of
    Python has begun, or there may be no more processes.
    """
    if len(os.listdir("/proc/self/task")) > 1:
        return
    keeper = os.getpid()
    adopt_orphans()
    # Ignored, the kernel would bury the server without a word.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _HEARD)
    server = _forked()
    if server:
        try:
            os.close(requests)
            _keep(server, caller)
        finally:
            os._exit(1)
    if server == 0:
        be_signalled_with_parent(signal.SIGTERM, keeper)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _forked() -> int | None:
    try:
        return os.fork()
    except OSError:
        return None


def _keep(server: int, caller: int) -> NoReturn:
    owner = Owner.of(server)
    remove_stale_groups()
    status = _await_end(server, caller)
    kill_orphans(os.getpid(), ())
    remove_groups_of(owner)
    _end_like(status)


def _await_end(server: int, caller: int) -> int:
    misses = 0
    while True:
        found, status = os.waitpid(server, os.WNOHANG)
        if found:
            return status
        heard = signal.sigtimedwait(_HEARD, _LOOK_S)
        if heard is not None and heard.si_signo == signal.SIGTERM:
            os.kill(server, signal.SIGTERM)
        misses += os.getppid() != caller
        if misses > _MOST_MISSES:
            os.kill(server, signal.SIGKILL)


def _end_like(status: int) -> NoReturn:
    """The caller is told how the server ended."""
    if os.WIFSIGNALED(status):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        with contextlib.suppress(OSError):  # SIGKILL can neither be handled nor restored
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
