"""What the modules of libraries name, sorted at one go: there are a hundred thousand of them."""

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from types import FunctionType, ModuleType
from typing import Any

from lowwater.agent.census.kinds import Answers, derives, is_hashable
from lowwater.agent.census.references import NUMBERS, may_hold
from lowwater.agent.census.roots import namespace

# Each module has its own: thousands of paths that never grow, a third of the time of a census.
_OF_THE_IMPORT = frozenset({"__spec__", "__loader__", "__path__", "__all__", "__builtins__"})
_NOTHING_BELOW = NUMBERS | {str, bytes}


class _Sort(Enum):
    NOTHING = "numbers, strings and other modules"
    CODE = "functions and classes"
    THREAD_LOCAL = "holds something else in each thread"
    DATA = "all else"


@dataclass(slots=True)
class LibraryValues:
    """The values of each module, of which functions and classes are code; held until `forget`."""

    data: list[list[Any]] = field(default_factory=list)
    code: list[Any] = field(default_factory=list)
    thread_locals: list[Any] = field(default_factory=list)

    def forget(self) -> None:
        """Let go of all of them."""
        self.data, self.code, self.thread_locals = [], [], []


def values_of(modules: Iterable[ModuleType]) -> LibraryValues:
    """What these modules name, but for how they were imported."""
    found, sort_of = LibraryValues(), Answers(_sort).of
    for module in modules:
        data: list[Any] = []
        for name, value in [*namespace(module).items()]:
            sort = sort_of(type(value))
            if sort is _Sort.NOTHING or (type(name) is str and name in _OF_THE_IMPORT):
                continue
            if sort is _Sort.CODE and not may_hold(value):
                continue
            if sort is _Sort.THREAD_LOCAL:
                found.thread_locals.append(value)
            (found.code if sort is _Sort.CODE else data).append(value)
        found.data.append(data)
    return found


def has_parts(thing: Any) -> bool:  # noqa: ANN401
    """Whether there may be something below it."""
    return _sort(type(thing)) is not _Sort.NOTHING


def _sort(kind: type) -> _Sort:
    # A type whose metaclass has a hash of its own is none of the plain ones.
    is_plain = type(kind) is type or is_hashable(kind)
    if (is_plain and kind in _NOTHING_BELOW) or derives(kind, ModuleType):
        return _Sort.NOTHING
    # Thousands of functions and classes, of which hardly one holds anything.
    if derives(kind, FunctionType) or derives(kind, type):
        return _Sort.CODE
    return _Sort.THREAD_LOCAL if derives(kind, threading.local) else _Sort.DATA
