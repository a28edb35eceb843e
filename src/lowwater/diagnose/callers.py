"""Tells the program's own code from that of the libraries."""

import functools
import sys
from collections.abc import Callable
from types import FrameType, MethodType
from typing import Any

from lowwater.model.frameworks import WITH_KERAS, package_of
from lowwater.model.user_code import is_installed

# Those that call each other where the program has called one of them.
OF_LIBRARIES = WITH_KERAS | {"lowwater"}


def is_of_a_library(frame: FrameType) -> bool:
    """Whether a frame runs code of Keras, TensorFlow or ours."""
    return _is_library(frame.f_globals.get("__name__"))


def is_of_the_program(frame: FrameType) -> bool:
    """Whether a frame runs code that was written for this program."""
    return not is_of_a_library(frame) and not _is_installed(frame.f_code.co_filename)


def line_of_the_program(depth: int = 1) -> tuple[str, int] | None:
    """Where the program has called what calls this, however many libraries are between."""
    frame: FrameType | None = sys._getframe(depth)  # noqa: SLF001 - `inspect` takes milliseconds
    while frame is not None:
        if is_of_the_program(frame):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None


def is_function_of_the_program(function: Callable[..., Any]) -> bool:
    """Whether what was given to a library is not of a library itself."""
    while isinstance(function, functools.partial | MethodType):
        function = function.func if isinstance(function, functools.partial) else function.__func__
    # An object with `__call__` finds that of its class.
    return not _is_library(getattr(function, "__module__", None))


def _is_library(module: object) -> bool:
    return package_of(str(module)) in OF_LIBRARIES


_is_installed = functools.cache(is_installed)
