"""Takes old items out of containers that a leak trace names, at the end of every round.

What was there at first stays, and so does what the latest round has added: the program goes on
with the items that it is likely to ask for.
"""

import functools
import gc
import time
from collections import deque
from collections.abc import Callable, MutableMapping, MutableSequence, MutableSet, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from lowwater.diagnose.paths import Hop, PathEnd, containers_below, find, name_of

# ruff: noqa: ANN401 - containers of the program

# A container grows for so many rounds before it is cut: a program may need some items to go on.
_ROUNDS_TO_GROW = 2
# Of a hot loop not every round is seen: what then came in many rounds is not the latest one's.
_LEAST_NEW = 4
_MEMO = functools._lru_cache_wrapper  # noqa: SLF001


class CannotLetGoError(Exception):
    """Why nothing can be taken out of an object."""


@dataclass(slots=True)
class _Size:
    """How long a container was: at first, and when it was left last."""

    first: int
    last: int
    rounds: int = 0
    grown: int = 0
    most_new: int = _LEAST_NEW


@dataclass(slots=True)
class _Way:
    """One path, and what is known of the containers there, by their addresses."""

    path: Sequence[Hop]
    rounds: int = 0
    has_grown: bool = False
    sizes: dict[int, _Size] = field(default_factory=dict)


class LetGo:
    """Follows some paths at each boundary of one unit, and shortens what they lead to."""

    def __init__(
        self,
        paths: Sequence[Sequence[Hop]],
        was_cut: Callable[[int, str], None],
        failed: Callable[[str], None],
    ) -> None:
        """`was_cut` is told of the number of a path, `failed` why one cannot be cut.

        Where a trace was too vague, `was_cut` is also told the name of what was cut below it.
        """
        self._ways = [_Way(path) for path in paths]
        self._was_cut = was_cut
        self._failed = failed
        self._next_s = 0.0

    def cut(self) -> None:
        """Once more, at the end of a round."""
        is_cut = [self._follow(number, way) for number, way in enumerate(self._ways)]
        began_s = time.monotonic()
        # What was let go may be a cycle, and of the next round's growth until it is collected;
        # but no more than half of the time is spent on that.
        if any(is_cut) and began_s >= self._next_s:
            gc.collect()
            ended_s = time.monotonic()
            self._next_s = ended_s + (ended_s - began_s)

    def _follow(self, number: int, way: _Way) -> bool:
        ends = find(way.path)
        way.rounds += bool(ends)
        seen: dict[int, _Size] = {}
        is_cut = False
        for found in ends:
            try:
                if _is_cut(found, way, seen):
                    is_cut = True
                    self._was_cut(number, "")
            except CannotLetGoError as why:
                self._failed(str(why))
        # The trace of a library's object may end above what grows.
        if way.rounds > 1 and not way.has_grown:
            for found in containers_below([one.owner for one in ends if one.owner is not None]):
                if _is_cut(found, way, seen, is_below=True):
                    is_cut = True
                    self._was_cut(number, name_of(found))
        # An address may be given to another container when the first is gone.
        way.sizes = seen
        return is_cut


def _is_cut(found: PathEnd, way: _Way, seen: dict[int, _Size], *, is_below: bool = False) -> bool:
    if type(found.owner) is _MEMO:
        found.owner.cache_clear()
        way.has_grown = True
        return True
    container = _container_of(found.thing)
    length = len(container)
    size = way.sizes.get(id(container)) or _Size(length, length)
    seen[id(container)] = size
    size.rounds += 1
    new = max(0, length - size.last)
    size.grown += new > 0
    size.first, size.last = min(size.first, length), length
    way.has_grown |= new > 0 and not is_below
    if size.rounds <= _ROUNDS_TO_GROW or (is_below and size.grown < _ROUNDS_TO_GROW):
        size.first = length
        size.most_new = max(size.most_new, new)
        return False
    start, end = size.first, length - min(new, size.most_new)
    if start >= end:
        return False
    _take_out(container, start, end)
    size.last = len(container)
    return True


def _container_of(thing: Any) -> Any:
    """What has the items: the object itself, or its attributes where it gets ever more of them."""
    match thing:
        case deque() | MutableSequence() | MutableMapping() | MutableSet():
            return thing
        case ModuleType() | tuple() | str() | bytes() | frozenset():
            pass
        case _ if isinstance(getattr(thing, "__dict__", None), dict):
            return thing.__dict__
    msg = f"nothing can be removed from a {type(thing).__name__}"
    raise CannotLetGoError(msg)


def _take_out(container: Any, start: int, end: int) -> None:
    """A list of Keras would refuse: it is past its own method."""
    match container:
        case deque():
            for _ in range(end - start):
                del container[start]
        case list():
            list.__delitem__(container, slice(start, end))
        case MutableSequence():
            del container[start:end]
        case MutableMapping():
            for key in [*container][start:end]:
                container.pop(key, None)
        case MutableSet():
            # A set has no order: any of them.
            for item in [*container][start:end]:
                container.discard(item)
