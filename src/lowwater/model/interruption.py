"""What the program's own signal handlers raise in the middle of our code.

Python runs a signal handler between any two bytecodes of the main thread, ours included. What it
raises is meant for the program: a `KeyboardInterrupt`, a time limit, an exit. So wherever our code
catches an exception, it asks here whose it is, and lets the program's through.
"""

import sys
from collections.abc import Callable
from types import FrameType, TracebackType

from lowwater.errors import StoppedByGuard
from lowwater.model.user_code import is_own

# Told of each failure of ours that the program did not see.
_listeners: list[Callable[[str], None]] = []


def tell_failures_to(note: Callable[[str], None]) -> None:
    """Let `note` have a sentence for each failure of ours from now on."""
    _listeners[:] = [note]


def is_programs(error: BaseException) -> bool:
    """Whether the program's signal handler raised this, or asked us to raise it; not a failure."""
    if isinstance(error, StoppedByGuard) or not isinstance(error, Exception):
        return True
    return _raised_by_handler(error) is not None


def let_through(error: BaseException) -> None:
    """Raise it again if it is the program's."""
    if is_programs(error):
        raise error


class quietly:  # noqa: N801 - reads like `contextlib.suppress`, which takes the program's as well
    """Suppresses what our own code raises."""

    def __init__(self, *kinds: type[Exception]) -> None:
        """Suppress these kinds; all of them where none is named."""
        self._kinds = kinds or (Exception,)

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        """Let the program's exceptions through."""
        return isinstance(error, self._kinds) and not is_programs(error)


def must_be_raised() -> bool:
    """Called where something of ours has failed: whether the program has to know.

    A failure of ours becomes a note. What the program's signal handler raised goes on as if it had
    been raised in the calling frame: without those of ours behind it.
    """
    try:
        error = sys.exception()
        if error is None:
            return False
        if is_programs(error):
            hide_our_frames(error)
            return True
        _tell(error)
    except Exception as another:  # noqa: BLE001 - no room on the stack, no memory for the note
        let_through(another)
    return False


def _tell(error: BaseException) -> None:
    with quietly():
        for note in _listeners:
            note(f"a part of Lowwater failed: {type(error).__name__}: {error}")


def hide_our_frames(error: BaseException) -> None:
    """Leave the frame that catches it, and those of the program's handler."""
    if error.__traceback__ is not None:
        error.__traceback__.tb_next = _raised_by_handler(error)


def _raised_by_handler(error: BaseException) -> TracebackType | None:
    """The part of the traceback that belongs to a signal handler which interrupted our code."""
    entry = error.__traceback__
    while entry is not None and not _has_interrupted_us(entry.tb_frame):
        entry = entry.tb_next
    return entry


def _has_interrupted_us(frame: FrameType) -> bool:
    """A handler is given the frame that it interrupts: nobody else is given his caller's."""
    interrupted = frame.f_back
    if interrupted is None or is_own(frame.f_code.co_filename):
        return False
    return any(
        value is interrupted or (type(value) is tuple and any(one is interrupted for one in value))
        for value in [*frame.f_locals.values()]
    )
