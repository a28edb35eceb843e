"""Takes old items out of containers that a leak trace names, at the end of every round.

What was there at first stays, and so does what the latest round has added: the program goes on
with the items that it is likely to ask for.
"""

import functools
from collections import deque
from collections.abc import Callable, MutableMapping, MutableSequence, MutableSet, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from lowwater.experiments.paths import Found, Hop, find

# ruff: noqa: ANN401 - containers of the program

# A container grows for so many rounds before it is cut: a program may need some items to go on.
_ROUNDS_TO_GROW = 2
# Of a hot loop not every round is seen: what then came in many rounds is not the latest one's.
_LEAST_NEW = 4


class CannotCut(Exception):  # noqa: N818 - a reason, told to the user
    """Why nothing can be taken out of an object."""


@dataclass(slots=True)
class _Size:
    """How long a container was: at first, when it was left last, and by how much it grew."""

    first: int
    last: int
    rounds: int = 0
    most_new: int = _LEAST_NEW


class LetGo:
    """Follows some paths at each boundary of one unit, and shortens what they lead to."""

    def __init__(
        self,
        paths: Sequence[Sequence[Hop]],
        was_cut: Callable[[int], None],
        failed: Callable[[str], None],
    ) -> None:
        """`was_cut` is told of a path the first time that it works, `failed` why one cannot."""
        self._paths = paths
        self._was_cut = was_cut
        self._failed = failed
        self._sizes: dict[int, _Size] = {}

    def cut(self) -> None:
        """Once more, at the end of a round."""
        seen: dict[int, _Size] = {}
        for number, path in enumerate(self._paths):
            for found in find(path):
                try:
                    if self._is_cut(found, seen):
                        self._was_cut(number)
                except CannotCut as why:
                    self._failed(str(why))
        # An address may be given to another container when the first is gone.
        self._sizes = seen

    def _is_cut(self, found: Found, seen: dict[int, _Size]) -> bool:
        container = _container_of(found.thing)
        if type(found.owner) is functools._lru_cache_wrapper:  # noqa: SLF001
            found.owner.cache_clear()
            return True
        length = len(container)
        size = self._sizes.get(id(container)) or _Size(length, length)
        seen[id(container)] = size
        size.rounds += 1
        new = max(0, length - size.last)
        size.first = min(size.first, length)
        size.last = length
        if size.rounds <= _ROUNDS_TO_GROW:
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
    name = type(thing).__name__
    msg = f"nothing can be taken out of {'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
    raise CannotCut(msg)


def _take_out(container: Any, start: int, end: int) -> None:
    """By no method of the program's own where there is another way."""
    match container:
        case deque():
            for _ in range(end - start):
                del container[start]
        case list():
            list.__delitem__(container, slice(start, end))
        case dict():
            for key in [*container][start:end]:
                container.pop(key, None)
        case MutableSequence():
            del container[start:end]
        case MutableMapping():
            for key in [*container][start:end]:
                del container[key]
        case MutableSet():
            # A set has no order: any of them.
            for item in [*container][start:end]:
                container.discard(item)
