"""Watches the program's process from outside, deals with signals, and outlives it."""

import re
import resource
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen

from lowwater.model import NotMeasured
from lowwater.probes.cgroup import OOM_KILLS, CgroupProbe
from lowwater.recording.records import Ended, Record, SeenOutside
from lowwater.recording.writer import append_after_end

_LOOK_EVERY_S = 0.5
_MOST_LOOKS = 512
# A Ctrl-C at the terminal reaches the child too; one sent to us alone has to be passed on.
_GRACE_S = 1.0
_SENT_BY_KERNEL = 0x80
_ANON = re.compile(rb"RssAnon:\s*(\d+) kB")


@dataclass(slots=True)
class Outside:
    """What is seen of the child from outside; thinned by looking half as often when full."""

    pid: int
    looks: list[SeenOutside] = field(default_factory=list)
    every_s: float = _LOOK_EVERY_S
    _next_s: float = 0.0

    def look(self, elapsed_s: float) -> None:
        """Note the resident anonymous memory, when it is time."""
        if elapsed_s < self._next_s:
            return
        self._next_s = elapsed_s + self.every_s
        anon_bytes = _anonymous_bytes(self.pid)
        if anon_bytes:
            self.looks.append(SeenOutside(round(elapsed_s * 1e6), anon_bytes))
        if len(self.looks) > _MOST_LOOKS:
            self.looks = self.looks[::2]
            self.every_s *= 2


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the child ended, whether somebody asked for it, and what could not be recorded."""

    ended: Ended
    notes: tuple[str, ...] = ()
    was_stopped: bool = False

    @property
    def exit_code(self) -> int:
        """The child's own exit code, or 128 + the signal that ended it, as shells have it."""
        if self.ended.signal is not None:
            return 128 + self.ended.signal
        return self.ended.exit_code or 0


def supervise(child: Popen[bytes], recording: str, on_look: Callable[[], None]) -> Outcome:
    """Stay with the program to its end, whatever that is; `on_look` is called twice a second."""
    waiting = _Waiting(child)
    kills_before = _oom_kills()
    began_s = time.perf_counter()
    outside = Outside(child.pid)
    while not waiting.is_over(outside.every_s):
        outside.look(time.perf_counter() - began_s)
        on_look()
    ended = _ended(child.returncode, time.perf_counter() - began_s, kills_before)
    records: list[Record] = [*outside.looks, ended]
    problem = append_after_end(recording, records)
    return Outcome(ended, (problem,) if problem else (), waiting.was_stopped)


class _Waiting:
    """Waits for the child and deals with the signals that arrive meanwhile."""

    _SIGNALS = frozenset({signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP})

    def __init__(self, child: Popen[bytes]) -> None:
        # After the child was started: it must not inherit the mask.
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, self._SIGNALS)
        self._child = child
        self.was_stopped = False
        self._interrupts = 0
        self._pass_on_at: float | None = None

    def is_over(self, timeout_s: float) -> bool:
        """Wait a little; True when the child has ended."""
        if self._child.poll() is None:
            arrived = signal.sigtimedwait(self._SIGNALS, min(timeout_s, _LOOK_EVERY_S))
            if arrived is not None:
                self._take(arrived)
            self._pass_on_when_due()
        if self._child.poll() is None:
            return False
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
        return True

    def _take(self, arrived: signal.struct_siginfo) -> None:
        self.was_stopped |= arrived.si_signo != signal.SIGCHLD
        if arrived.si_signo in (signal.SIGTERM, signal.SIGHUP):
            self._child.send_signal(arrived.si_signo)
        elif arrived.si_signo == signal.SIGINT:
            self._interrupts += 1
            if self._interrupts > 1:  # it hangs, in native code perhaps
                self._child.kill()
            elif arrived.si_code != _SENT_BY_KERNEL:
                self._pass_on_at = time.monotonic() + _GRACE_S
            else:
                _say("waiting for the program to end; Ctrl-C again kills it")

    def _pass_on_when_due(self) -> None:
        if self._pass_on_at is not None and time.monotonic() >= self._pass_on_at:
            self._pass_on_at = None
            self._child.send_signal(signal.SIGINT)


def _say(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\nlowwater: {text}\n")


def _ended(returncode: int, elapsed_s: float, kills_before: int | None) -> Ended:
    was_killed = returncode < 0
    kills_after = _oom_kills()
    is_oom = (
        -returncode == signal.SIGKILL
        and kills_before is not None
        and kills_after is not None
        and kills_after > kills_before
    )
    return Ended(
        elapsed_us=round(elapsed_s * 1e6),
        exit_code=None if was_killed else returncode,
        signal=-returncode if was_killed else None,
        out_of_memory=is_oom,
        peak_rss_bytes=resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024,
    )


def _oom_kills() -> int | None:
    answer = CgroupProbe().read()
    return None if isinstance(answer, NotMeasured) else answer.gauges.get(OOM_KILLS)


def _anonymous_bytes(pid: int) -> int | None:
    try:
        found = _ANON.search(Path(f"/proc/{pid}/status").read_bytes())
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None
