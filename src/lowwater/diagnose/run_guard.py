"""Ends everything that runs of the program have started: with each run, and with this process.

A process that is killed cannot clean up behind itself, so another one waits for its death.
"""

import os
import select
import signal
import struct
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from subprocess import Popen
from typing import Final, Self

from lowwater.isolation.local.kinship import (
    adopt_orphans,
    be_signalled_with_parent,
    stop_adopting,
)
from lowwater.isolation.local.tree import children_of, kill_orphans, kill_tree, tree_of

_LOOK_EVERY_S: Final = 1.0
_IGNORED: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_STDERR: Final = 2
_MOST_SWEEPS: Final = 20
# What the other process is told: which run is on.
_RUN: Final = struct.Struct("=q")
_OVER: Final = _RUN.pack(-1)


class RunGuard:
    """For the time of a diagnosis: what the program's processes leave comes to this process."""

    def __enter__(self) -> Self:
        # What was there before is somebody else's: a shell that was replaced by us, perhaps.
        self._known = {*children_of(os.getpid())}
        adopt_orphans()
        theirs, self._line = os.pipe()
        self._watcher = _forked(theirs)
        os.close(theirs)
        self._known.add(self._watcher)
        return self

    def __exit__(self, *_: object) -> None:
        self.end_all()
        with suppress(OSError):
            os.write(self._line, _OVER)
        os.close(self._line)
        with suppress(ChildProcessError):
            os.waitpid(self._watcher, 0)
        stop_adopting()

    def start(self, launch: Callable[..., Popen[bytes]]) -> Popen[bytes]:
        """Launch a run, in a session of its own that dies with this process."""
        before_exec = partial(be_signalled_with_parent, signal.SIGKILL, os.getpid())
        with warnings.catch_warnings():
            # The bar has a thread; what runs between fork and exec takes no lock of it.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = launch(start_new_session=True, preexec_fn=before_exec)
        with suppress(OSError):
            os.write(self._line, _RUN.pack(child.pid))
        return child

    def end_all(self) -> None:
        """All that the runs have started, whatever group or session it is in."""
        kill_orphans(os.getpid(), self._known)


def _forked(line: int) -> int:
    parent = os.getpid()
    # Before the fork: on a busy machine the watcher begins after the first run has.
    of_others = _sessions_below(parent)
    process = os.fork()
    if process:
        return process
    try:
        _watch(parent, line, of_others)
    finally:
        os._exit(0)


def _watch(parent: int, line: int, of_others: set[int]) -> None:
    """Wait for the end of the diagnosis, in a session of its own; then end what it has left."""
    os.setsid()
    for one in _IGNORED:
        signal.signal(one, signal.SIG_IGN)
    _let_go_of_all_but(line)
    sessions = set[int]()
    while True:
        is_told, _, _ = select.select([line], [], [], _LOOK_EVERY_S)
        told = os.read(line, _RUN.size) if is_told else None
        if told == b"":
            break
        if told == _OVER:
            return
        sessions |= {*_RUN.unpack(told)} if told else set()
        now = _sessions_below(parent) - of_others
        # After its death nothing is below it any more, and what was there is to be ended.
        sessions = now if os.getppid() == parent else sessions
    _end_sessions(sessions)


def _let_go_of_all_but(line: int) -> None:
    """Who reads what the diagnosis prints, or waits for its lock, must see its end."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for name in os.listdir("/proc/self/fd"):
        descriptor = int(name)
        if descriptor <= _STDERR:
            os.dup2(nothing, descriptor)
        elif descriptor != line:
            # The one by which the names were listed is closed already.
            with suppress(OSError):
                os.close(descriptor)


def _sessions_below(process: int) -> set[int]:
    """Those of its runs: all that they have started is below it, as it adopts their orphans."""
    own = {os.getsid(0), _session_of(process), None}
    return {one for one in map(_session_of, tree_of(process)) if one not in own and one is not None}


def _session_of(process: int) -> int | None:
    try:
        return os.getsid(process)
    except OSError:
        return None


def _end_sessions(sessions: set[int]) -> None:
    """Until nothing is left: one that is dying may just have started another."""
    for _ in range(_MOST_SWEEPS):
        processes = (int(name) for name in os.listdir("/proc") if name.isdecimal())
        left = [one for one in processes if _session_of(one) in sessions]
        if not left:
            return
        for one in left:
            kill_tree(one)
