"""Which frames are the program's own, and how a place in them is written."""

import contextlib
import os
import sys
from types import FrameType

from lowwater.model.user_code import is_own


def shown(filename: str) -> str:
    """A file as it is written in a receipt: by the way from here, if that is shorter."""
    try:
        relative = os.path.relpath(filename)
    except (OSError, ValueError):  # no working folder any more, or another drive
        return filename
    return relative if len(relative) < len(filename) else filename


def line_of(frame: FrameType) -> str:
    """Where a frame stands, as `train.py:31`."""
    return f"{shown(frame.f_code.co_filename)}:{frame.f_lineno}"


def calling_frame() -> FrameType | None:
    """The innermost frame that is not ours, nor of the tools around a `with` statement."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the public way costs milliseconds
    while frame is not None and _is_machinery(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def running_frames() -> set[int]:
    """The identity of every frame below us on this thread; one that is suspended is not there."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001
    found: set[int] = set()
    while frame is not None:
        found.add(id(frame))
        frame = frame.f_back
    return found


def calling_line() -> str:
    """The line of the program that has called us."""
    frame = calling_frame()
    return line_of(frame) if frame is not None else "an unknown line"


def _is_machinery(filename: str) -> bool:
    return is_own(filename) or filename == contextlib.__file__
