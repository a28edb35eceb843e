"""The process that trials are forked from: the framework is imported here, and never used.

It has one thread and no state but its children. For each trial it is handed two connections:
one becomes the child's, through the other it tells of the child's start and end. When the caller
closes that one, or asks for it, the trial is killed with all its processes. The end of the caller
closes all of them. Its own end, whatever has ended it, is the keeper's affair.
"""

import contextlib
import gc
import importlib
import os
import selectors
import signal
import socket
import sys
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

from lowwater.isolation.local import child
from lowwater.isolation.local.channel import Channel, close_all
from lowwater.isolation.local.keeper import go_on_below_a_keeper
from lowwater.isolation.local.kinship import adopt_orphans
from lowwater.isolation.local.memory_limit import MemoryLimit, kills_for_memory, limit_memory
from lowwater.isolation.local.preloads import why_not_to_fork
from lowwater.isolation.local.tree import kill_orphans, kill_tree, started_at, tree_of

# How often a limit is looked at where the kernel does not do it for us.
_WATCH_S = 0.02


@dataclass(eq=False, slots=True)
class _RunningTrial:
    """A trial whose child has not ended."""

    process: int
    tidings: Channel
    limit: MemoryLimit | None
    kills_before: int


class Server:
    """Forks a child for each request, and reports its end."""

    def __init__(self, requests: Channel) -> None:
        """Serve what comes through this channel."""
        self._requests = requests
        self._trials: dict[int, _RunningTrial] = {}
        self._retires = False
        self._is_ended = False
        self._events = selectors.DefaultSelector()
        self._events.register(requests, selectors.EVENT_READ, self._take_request)
        self._deaths, wakeup = socket.socketpair()
        for one in (self._deaths, wakeup):
            one.setblocking(False)  # noqa: FBT003 - the standard library's own signature
        self._wakeup = wakeup
        self._events.register(self._deaths, selectors.EVENT_READ, self._bury)
        signal.set_wakeup_fd(wakeup.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        # Ctrl-C is the caller's: it decides what becomes of its trials.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, self._be_ended)

    def serve(self) -> NoReturn:
        """Until the caller is gone."""
        while True:
            watched = any(trial.limit is not None for trial in self._trials.values())
            for key, _ in self._events.select(_WATCH_S if watched else None):
                # What is asked of one that ends is asked of the next one, if it is not taken.
                if self._is_ended:
                    break
                if key.fileobj.fileno() >= 0:  # type: ignore[union-attr] # not closed meanwhile
                    key.data()
            self._hold_limits()
            if self._is_ended or (self._retires and not self._trials):
                self._end()

    def _be_ended(self, *_: object) -> None:
        """By somebody else: not before the processes that trials have started."""
        self._is_ended = True

    def _take_request(self) -> None:
        request = self._requests.receive()
        if request is None:
            self._end()
        elif request.kind == "retire":
            self._retires = True
        else:
            self._start(request.body, *request.descriptors)

    def _start(self, wanted: dict[str, Any], channel: int, tidings: int, *output: int) -> None:
        teller = Channel.of(tidings)
        memory_bytes = wanted["memory_bytes"]
        limit = limit_memory(memory_bytes) if memory_bytes is not None else None
        server, kills = os.getpid(), kills_for_memory()
        with warnings.catch_warnings():
            # NumPy's own threads, of which Python warns, stop for a fork and start again.
            warnings.simplefilter("ignore", DeprecationWarning)
            try:
                process = os.fork()
            except OSError as error:  # too many processes: those that run have no part in it
                _tell(teller, "refused", str(error))
                teller.close()
                close_all([channel, *output])
                if limit is not None:
                    limit.close()
                return
        if process == 0:
            try:
                self._leave(teller)
                if limit is not None:
                    limit.enter()
                child.live(Channel.of(channel), output, server)
            finally:
                os._exit(child.NO_ANSWER)
        close_all([channel, *output])
        trial = self._trials[process] = _RunningTrial(process, teller, limit, kills)
        self._events.register(teller, selectors.EVENT_READ, lambda: self._kill(trial))
        _tell(teller, "started", (process, started_at(process)))

    def _leave(self, teller: Channel) -> None:
        """In the child: nothing of the server is its own."""
        signal.set_wakeup_fd(-1)
        self._events.close()
        for one in (self._requests, teller, *(trial.tidings for trial in self._trials.values())):
            one.close()
        self._deaths.close()
        self._wakeup.close()

    def _kill(self, trial: _RunningTrial) -> None:
        """Asked to, or the caller has lost interest."""
        if trial.tidings.receive() is None:
            self._events.unregister(trial.tidings)
        kill_tree(trial.process)

    def _hold_limits(self) -> None:
        for trial in self._trials.values():
            if trial.limit is not None and trial.limit.exceeded(tree_of(trial.process)):
                kill_tree(trial.process)

    def _bury(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._deaths.recv(4096)
        for process in [*self._trials]:
            with contextlib.suppress(ChildProcessError):
                found, status, used = os.wait4(process, os.WNOHANG)
                if found:
                    self._tell_end(self._trials.pop(process), status, used.ru_maxrss * 1024)

    def _tell_end(self, trial: _RunningTrial, status: int, peak_bytes: int) -> None:
        kill_orphans(os.getpid(), self._trials)
        was_killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        end: dict[str, Any] = {
            "status": status,
            "peak_bytes": peak_bytes,
            "system_killed": was_killed and kills_for_memory() > trial.kills_before,
        }
        if trial.limit is not None:
            end["limited_by"] = trial.limit.name
            end["over_limit"] = trial.limit.was_met()
            end["limited_peak_bytes"] = trial.limit.peak_bytes()
            trial.limit.close()
        with contextlib.suppress(KeyError):
            self._events.unregister(trial.tidings)
        _tell(trial.tidings, "ended", end)
        trial.tidings.close()

    def _end(self) -> NoReturn:
        for process in [*self._trials]:
            kill_tree(process)
        while self._trials:
            self._bury()
            time.sleep(0.001)
        os._exit(0)


def _tell(teller: Channel, kind: str, body: object) -> None:
    with contextlib.suppress(OSError):  # nobody listens any more
        teller.send(kind, body)


def preload(names: Iterable[str]) -> list[str]:
    """Import the frameworks; tells of those that cannot be."""
    failed = []
    for name in names:
        try:
            importlib.import_module(name)
        except Exception as error:  # noqa: BLE001 - the trial will meet the same, and tell it
            failed.append(f"{name}: {type(error).__name__}: {error}")
    return failed


def main(caller: int, descriptor: int, names: list[str]) -> NoReturn:
    """Import, say whether forking is safe, then serve."""
    go_on_below_a_keeper(caller, descriptor)
    adopt_orphans()
    requests = Channel.of(descriptor)
    failed = preload(names)
    unsafe = why_not_to_fork()
    requests.send("ready", {"failed": failed, "unsafe": unsafe})
    if unsafe is not None:
        sys.exit(0)
    # What is there now lives on in all children: their collectors need not look at it, and the
    # pages stay shared.
    gc.collect()
    gc.freeze()
    Server(requests).serve()
