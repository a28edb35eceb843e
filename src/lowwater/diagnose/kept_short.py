"""Keeps containers short that lines of the program add to: their first items and the newest.

A call is placed around whatever adds, so that code that reads what was added last, or first, goes
on as before.
"""

import ast
import weakref
from collections import deque
from collections.abc import (
    Callable,
    Hashable,
    MutableMapping,
    MutableSequence,
    MutableSet,
    Sequence,
)
from typing import Any

from lowwater.agent.instrumentation._tick import Tick
from lowwater.diagnose.placer import Placer

# ruff: noqa: ANN401 - containers of the program

# So many items more than at first are left in a container.
_MORE = 4


class KeptShort:
    """Rewrites the statements at some lines of the program, as reports call them."""

    def __init__(
        self,
        places: Sequence[str],
        may_grow: Callable[[], bool],
        failed: Callable[[str], None],
    ) -> None:
        """As long as they `may_grow` they do; `failed` is told of lines where nothing can be done.

        A program may need some items before it can go on.
        """
        self._places = frozenset(places)
        self._may_grow = may_grow
        self._failed = failed
        self._first_sizes: dict[Hashable, int] = {}
        self._memos: list[weakref.ref[Any]] = []

    def rewrite(
        self, shown: str, tree: ast.Module, first_index: int
    ) -> list[Callable[..., object]]:
        """Place the calls into a file; what they call is given back."""
        lines = {
            int(line)
            for file, _, line in (place.rpartition(":") for place in self._places)
            if file == shown
        }
        placer = Placer(lines, first_index)
        placer.visit(tree)
        for line in sorted(lines - placer.found):
            self._failed(f"{shown}:{line} adds to nothing that can be shortened")
        return [Tick(self.after), Tick(self.shorten), Tick(self.remember)]

    def remember(self, function: Any) -> None:
        """One that keeps its results: `functools.cache` and its like."""
        if hasattr(function, "cache_clear"):
            self._memos.append(weakref.ref(function))
        else:
            self._failed(f"what {getattr(function, '__name__', 'it')} keeps cannot be emptied")

    def forget_results(self) -> None:
        """In every round; a function that is gone has nothing to forget."""
        for memo in self._memos if not self._may_grow() else ():
            function = memo()
            if function is not None:
                function.cache_clear()

    def after(self, result: Any, *containers: Any) -> Any:
        """The result of a call that has added to containers, which are shortened now."""
        for container in containers:
            self.shorten(container)
        return result

    def shorten(self, container: Any, line: int | None = None) -> Any:
        """The container, or a shorter one where it cannot be changed itself.

        What is made anew at a `line` each time is known by that, anything else by its address.
        """
        try:
            size = len(container)
        except TypeError:
            self._failed(f"a {type(container).__name__} cannot be shortened")
            return container
        key = (id(container), None) if line is None else (type(container), line)
        if self._may_grow():
            self._first_sizes[key] = size
            return container
        # A smaller one is another that has got the address.
        self._first_sizes[key] = first = min(self._first_sizes.get(key, size), size)
        return container if size <= first + _MORE else _shortened(container, first + _MORE)


def _shortened(container: Any, most: int) -> Any:
    match container:
        case deque():
            while len(container) > most:
                del container[most - 1]
        case MutableSequence():
            del container[most - 1 : -1]
        case MutableMapping():
            for key in [*container][most - 1 : -1]:
                del container[key]
        case MutableSet():
            for item in [*container][most:]:
                container.discard(item)
        case _:
            return container[:most]
    return container
