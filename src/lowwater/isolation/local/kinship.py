"""What the kernel does for a process when those around it die."""

import ctypes
import os
import signal

_SIGNAL_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER


def be_signalled_with_parent(number: signal.Signals, parent: int) -> None:
    """Get this signal when the process that forked this one dies, or now if it has."""
    ctypes.CDLL(None).prctl(_SIGNAL_WITH_PARENT, number)
    if os.getppid() != parent:  # it died before the kernel could know
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)


def adopt_orphans() -> None:
    """Processes below this one become its own children when their parents die."""
    ctypes.CDLL(None).prctl(_ADOPT_ORPHANS, 1)


def stop_adopting() -> None:
    """From now on they become somebody else's, as ever."""
    ctypes.CDLL(None).prctl(_ADOPT_ORPHANS, 0)
