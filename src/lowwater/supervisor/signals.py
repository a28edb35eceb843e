"""Signals that are meant for the program, while we stand in its place.

A shell, a scheduler or a terminal signals the process that it has started, and that is ours. So we
hold these signals back from ourselves, from before the program starts until the report is out, and
see to it that each reaches the program once.
"""

import contextlib
import fcntl
import os
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_PROGRAMS: Final = frozenset(
    {
        *(signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT),
        *(signal.SIGUSR1, signal.SIGUSR2),
    }
)
# Those by which somebody wants the program to end.
ENDING: Final = _PROGRAMS - {signal.SIGUSR1, signal.SIGUSR2}
# Has a higher number than all of these, so that it is taken after them; and means nothing.
_MARK: Final = signal.SIGURG
# Comes when the other end of a pipe is closed.
_GONE: Final = signal.SIGIO
_LONGEST_S: Final = 5.0
_held: set[signal.Signals] = set()


def for_the_program() -> frozenset[signal.Signals]:
    """Those that we pass on; what is ignored from the start is ignored by the program, too."""
    return frozenset(one for one in _PROGRAMS if signal.getsignal(one) is not signal.SIG_IGN)


def held_by_us() -> frozenset[signal.Signals]:
    """Those that a child would inherit as blocked, and must not."""
    return frozenset(_held)


@contextmanager
def held_back() -> Iterator[None]:
    """Wait with these signals until somebody asks for them, or this is over."""
    wanted = {*for_the_program(), signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
    ours = {*wanted} - {*before}
    _held.update(ours)
    try:
        yield
    finally:
        _held.difference_update(ours)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def drop_held() -> None:
    """Forget the signals that have come for a program that is over."""
    while signal.sigtimedwait(_held, 0) is not None:
        pass


class Witness:
    """A process that does nothing but be in our group: so it knows what the whole group was sent.

    Nothing else tells a signal to us alone, which has to be passed on, from one that the program
    has got already: a second one in the middle of its cleaning up would do harm.
    """

    @classmethod
    def if_possible(cls) -> "Witness | None":
        """None where no more processes are allowed: then signals may come twice."""
        try:
            return cls()
        except OSError:
            return None

    def __init__(self) -> None:
        """Start it; it ends when we do."""
        self._reads, tells = os.pipe()
        life, self._life = os.pipe()
        middle = os.fork()
        if middle == 0:
            _testify(tells, life)
        os.close(tells)
        os.close(life)
        os.waitpid(middle, 0)
        self._pid = int.from_bytes(os.read(self._reads, 4), "little")

    def saw(self, number: int) -> bool:
        """Whether this signal, which has reached us, was sent to the whole group."""
        seen = b""
        try:
            os.kill(self._pid, _MARK)
            while _MARK not in seen and select.select([self._reads], [], [], _LONGEST_S)[0]:
                seen += os.read(self._reads, 512) or bytes([_MARK])
        except OSError:
            return False
        return number in seen


def _testify(tells: int, life: int) -> None:
    """In a process that is nobody's child: tell of each signal until our starter is gone."""
    heard = {*_PROGRAMS, _MARK, _GONE}
    try:
        # None is handled: they wait, and are taken in the order of their numbers.
        signal.pthread_sigmask(signal.SIG_BLOCK, heard)
        if os.fork():
            os._exit(0)
        _let_go_of_all_but(tells, life)
        fcntl.fcntl(life, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(life, fcntl.F_SETFL, os.O_ASYNC)
        os.write(tells, os.getpid().to_bytes(4, "little"))
        while not select.select([life], [], [], 0)[0]:
            os.write(tells, bytes([signal.sigwait(heard)]))
    finally:
        os._exit(0)


def _let_go_of_all_but(*kept: int) -> None:
    """Whoever reads what the program writes must not have to wait for us."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in kept:
            with contextlib.suppress(OSError):  # that of the listing itself
                os.close(int(name))
