"""Which line of the program made TensorFlow set up its devices: from then on they are fixed."""

import os
import sys
from collections.abc import Callable, Iterator
from types import FrameType, ModuleType
from typing import Any

from lowwater.agent.instrumentation._placement import Placement
from lowwater.model.user_code import is_users

Shown = Callable[[str], str]

CONTEXT = "tensorflow.python.eager.context"

# Known only where somebody has looked: `lowwater run`, or an earlier `lowwater.devices()`.
_lines: list[str] = []


def first_use() -> str | None:
    """The line, where it was seen."""
    return _lines[0] if _lines else None


def placements(module: ModuleType, shown: Shown) -> Iterator[Placement]:
    """Look once, when the devices are set up; nothing else passes there."""

    def look() -> None:
        line = None if _lines else user_line(shown)
        if line is not None:
            _lines.append(line)

    yield Placement(module.Context._initialize_logical_devices, look, "start")  # noqa: SLF001


def tensorflow_context() -> Any:  # noqa: ANN401 - TensorFlow's
    """What TensorFlow keeps its devices in; None before there is one."""
    return getattr(sys.modules.get(CONTEXT), "_context", None)


def user_line(shown: Shown = os.path.basename) -> str | None:
    """The innermost line of the user's own code; None where there is none on the stack."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the public way costs milliseconds
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    return None if frame is None else f"{shown(frame.f_code.co_filename)}:{frame.f_lineno}"
