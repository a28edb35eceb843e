"""Watches the program's process from outside, deals with signals, and outlives it."""

import os
import re
import resource
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen

from lowwater.model import NotMeasured
from lowwater.probes.cgroup import OOM_KILLS, CgroupProbe, kills_on_machine
from lowwater.probes.host import peak_bytes
from lowwater.recording.records import Ended, Record, SeenOutside
from lowwater.recording.writer import append_after_end, head_of
from lowwater.supervisor.gpu_watch import GpuWatch
from lowwater.supervisor.gpus import who_holds
from lowwater.supervisor.launch import Launched
from lowwater.supervisor.limits_seen import ran_out
from lowwater.supervisor.signals import ENDING, Witness, for_the_program, held_back

_LOOK_EVERY_S = 0.5
_MOST_LOOKS = 512
_SENT_BY_KERNEL = 0x80
_ANON = re.compile(rb"RssAnon:\s*(\d+) kB")


@dataclass(slots=True)
class Outside:
    """What is seen of the child from outside; thinned by looking half as often when full."""

    pid: int
    looks: list[SeenOutside] = field(default_factory=list)
    peak_bytes: int | None = None
    every_s: float = _LOOK_EVERY_S
    _next_s: float = 0.0

    def look(self, elapsed_s: float, also: Callable[[float], None]) -> None:
        """Note the resident anonymous memory, when it is time, and what is `also` looked at."""
        if elapsed_s < self._next_s:
            return
        self._next_s = elapsed_s + self.every_s
        also(elapsed_s)
        anon_bytes = _anonymous_bytes(self.pid)
        self.peak_bytes = peak_bytes(f"/proc/{self.pid}/status") or self.peak_bytes
        if anon_bytes:
            self.looks.append(SeenOutside(round(elapsed_s * 1e6), anon_bytes))
        if len(self.looks) > _MOST_LOOKS:
            self.looks = self.looks[::2]
            self.every_s *= 2


@dataclass(frozen=True, slots=True)
class RunOutcome:
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


def supervise(
    child: Popen[bytes],
    recording: str,
    on_look: Callable[[], None],
    witness: Witness | None = None,
) -> RunOutcome:
    """Stay with the program to its end, whatever that is; `on_look` is called twice a second."""
    head = head_of(recording)
    kills_before, largest_before = _oom_kills(), _largest_child_bytes()
    began_s = child.began_s if isinstance(child, Launched) else time.perf_counter()
    outside, gpus = Outside(child.pid), GpuWatch(child.pid, _warn, who_holds)
    waiting = _Waiting(child, witness)
    with held_back():
        while not waiting.is_over(outside.every_s):
            outside.look(time.perf_counter() - began_s, gpus.look)
            on_look()
    gpus.close()
    ended = _ended(child.returncode, time.perf_counter() - began_s, kills_before)
    ended.peak_rss_bytes = _peak(outside, largest_before, was_killed=ended.signal is not None)
    records: list[Record] = [*outside.looks, *gpus.records, *ran_out(ended), ended]
    problem = append_after_end(recording, records, head)
    return RunOutcome(ended, (problem,) if problem else (), waiting.was_stopped)


class _Waiting:
    """Waits for the child, and passes on the signals that arrive meanwhile for it."""

    def __init__(self, child: Popen[bytes], witness: Witness | None) -> None:
        self._child = child
        self._witness = witness
        # In a session of its own nothing reaches it from the terminal, and nobody waits for it.
        self._is_apart = _is_apart(child.pid)
        self._wanted = {*for_the_program(), signal.SIGCHLD}
        self.was_stopped = False

    def is_over(self, timeout_s: float) -> bool:
        """Wait a little; True when the child has ended, and no signal is left to be seen."""
        is_running = self._child.poll() is None
        wait_s = min(timeout_s, _LOOK_EVERY_S) if is_running else 0.0
        arrived = signal.sigtimedwait(self._wanted, wait_s)
        if arrived is not None and arrived.si_signo != signal.SIGCHLD:
            self._take(arrived)
        return arrived is None and self._child.poll() is not None

    def _take(self, arrived: signal.struct_siginfo) -> None:
        number = arrived.si_signo
        self.was_stopped |= number in ENDING
        if self._is_apart and number in ENDING:
            self._child.kill()
        elif self._child.poll() is None and not self._has_reached_child(arrived):
            self._child.send_signal(number)
        if number == signal.SIGINT:
            _say("interrupted; waiting for the program to end")

    def _has_reached_child(self, arrived: signal.struct_siginfo) -> bool:
        """Whether it was sent to all processes of our group, and the child is one of them."""
        if not _is_in_our_group(self._child.pid):
            return False
        # A terminal signals all that run in it.
        is_from_terminal = arrived.si_code == _SENT_BY_KERNEL
        return is_from_terminal or (
            self._witness is not None and self._witness.saw(arrived.si_signo)
        )


def _is_in_our_group(pid: int) -> bool:
    try:
        return os.getpgid(pid) == os.getpgrp()
    except ProcessLookupError:
        return False


def _is_apart(pid: int) -> bool:
    try:
        return os.getsid(pid) != os.getsid(0)
    except ProcessLookupError:
        return False


def _warn(text: str) -> None:
    """Before the program trains: in the log of a job, too."""
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            sys.stderr.write(f"lowwater: {text}\n")
            sys.stderr.flush()


def _say(text: str) -> None:
    if sys.stderr is not None and sys.stderr.isatty():
        with suppress(OSError):
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
        peak_rss_bytes=None,
    )


def _peak(outside: Outside, largest_before: int, *, was_killed: bool) -> int | None:
    """The most resident memory of the program, as far as it can be told from outside.

    The kernel tells that of the largest child that has ended, which may be a child of the program,
    or another of ours. So it is asked only where a peak may have come after the last look.
    """
    largest = _largest_child_bytes()
    if outside.peak_bytes is not None and not (was_killed and largest > largest_before):
        return outside.peak_bytes
    return max(largest, outside.peak_bytes or 0) if largest > largest_before else None


def _largest_child_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


def _oom_kills() -> int | None:
    """By the kernel: in our control group, or on the machine where the group does not tell."""
    answer = CgroupProbe().read()
    counted = None if isinstance(answer, NotMeasured) else answer.gauges.get(OOM_KILLS)
    return kills_on_machine() if counted is None else counted


def _anonymous_bytes(pid: int) -> int | None:
    try:
        found = _ANON.search(Path(f"/proc/{pid}/status").read_bytes())
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None
