"""All ways from the variables of a program to a few objects, found in one walk."""

import gc
import inspect
import sys
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from types import CellType, CodeType, FrameType, FunctionType, ModuleType, TracebackType
from typing import Any, NamedTuple

from lowwater.agent.census import edges
from lowwater.agent.census.kinds import module_of
from lowwater.agent.census.roots import namespace
from lowwater.giveback.holding import module_spaces
from lowwater.giveback.hollow import is_shell
from lowwater.giveback.program_variables import Root, frames_of_all_threads
from lowwater.model.user_code import is_users

# A receipt must not take longer than the release: a holder far away stays unnamed.
_MOST_OBJECTS = 150_000
_NOT_ENTERED = (ModuleType, CodeType, str, bytes, int, float)
_CONTAINERS = (list, tuple, dict, set, frozenset, deque)


class Way(NamedTuple):
    """A variable, and the objects between its value and the wanted one, that one included.

    Each stands with the label by which the object above it refers to it.
    """

    root: Root
    steps: tuple[tuple[str, Any], ...]

    @property
    def is_in_hand(self) -> bool:
        """Whether only containers and objects of the program's own lie between."""
        things = [self.root.value, *(thing for _, thing in self.steps)]
        return all(map(_is_own, things[:-1]))


class Ways:
    """One walk from the variables on. It ends at what is wanted: what that holds is its own."""

    def __init__(self, wanted: Collection[int], roots: Sequence[Root]) -> None:
        """Walk; the objects on the way are held until this is gone."""
        self.is_complete = True
        self._wanted = wanted
        self._roots: dict[int, list[Root]] = {}
        for root in roots:
            self._roots.setdefault(id(root.value), []).append(root)
        self._things: dict[int, Any] = {}
        self._holders: dict[int, list[int]] = {}
        self._walk(roots)

    def to(self, thing: Any) -> list[Way]:  # noqa: ANN401 - one of those that are wanted
        """One way from each variable that holds the object, the shortest first."""
        found: list[Way] = []
        below: dict[int, int | None] = {id(thing): None}
        waiting = deque(below)
        while waiting:
            at = waiting.popleft()
            roots = self._roots.get(at, [])
            if at != id(thing) and roots:
                # Who refers to the object of a variable is no other holder of what it holds.
                root = next((one for one in roots if one.needed), roots[0])
                found.append(Way(root, tuple(_named([*self._down(at, below), thing]))))
                continue
            found += [Way(root, ()) for root in roots]
            for holder in self._holders.get(at, ()):
                if holder not in below:
                    below[holder] = at
                    waiting.append(holder)
        return found

    def _down(self, at: int, below: dict[int, int | None]) -> Iterator[Any]:
        following: int | None = at
        while following is not None and following in self._things:
            yield self._things[following]
            following = below[following]

    def _walk(self, roots: Sequence[Root]) -> None:
        spaces = module_spaces()
        spaces.update(map(id, frames_of_all_threads()))  # their variables are roots themselves
        waiting: deque[int] = deque()

        def meet(part: Any) -> None:  # noqa: ANN401
            key = id(part)
            if key not in self._things and key not in spaces and _is_entered(part):
                self._things[key] = part
                waiting.append(key)

        for root in roots:
            if id(root.value) not in self._wanted:
                meet(root.value)
        while waiting:
            if len(self._things) > _MOST_OBJECTS:
                self.is_complete = False
                break
            at = waiting.popleft()
            for part in gc.get_referents(self._things[at]):
                if id(part) not in self._wanted:
                    meet(part)
                    if id(part) not in self._things:
                        continue
                self._holders.setdefault(id(part), []).append(at)


def is_users_class(kind: type) -> bool:
    """Whether a class may keep something of the program's in its attributes."""
    # Asked past the class and its metaclass: both may be the program's.
    name = module_of(kind)
    module = sys.modules.get(name or "")
    file = namespace(module).get("__file__") if isinstance(module, ModuleType) else None
    return name == "__main__" or (type(file) is str and is_users(file))


def _is_entered(thing: Any) -> bool:  # noqa: ANN401
    kind = type(thing)
    if issubclass(kind, type):
        return is_users_class(thing)
    return gc.is_tracked(thing) and not issubclass(kind, _NOT_ENTERED) and not is_shell(thing)


def _is_own(thing: Any) -> bool:  # noqa: ANN401
    kind = type(thing)
    is_plain = kind is FunctionType or kind is CellType or any(kind is one for one in _CONTAINERS)
    return is_plain or is_users_class(kind)


def _named(chain: list[Any]) -> Iterator[tuple[str, Any]]:
    kept = [chain[0], *(below for above, below in pairwise(chain) if not _is_inner(above, below))]
    yield from ((_label(above, below), below) for above, below in pairwise(kept))


def _label(above: Any, below: Any) -> str:  # noqa: ANN401
    if type(below) is FrameType and isinstance(above, BaseException):
        return ".__traceback__"
    label = edges.label(above, below)
    return f".{label[2:]}" if label.startswith("._") and _is_read_as(above, label[2:]) else label


def _is_read_as(thing: Any, name: str) -> bool:  # noqa: ANN401
    """Whether a property of this name reads the attribute: `.model` is known, `._model` is not."""
    found = inspect.getattr_static(type(thing), name, None)
    code = getattr(found.fget, "__code__", None) if type(found) is property else None
    return type(code) is CodeType and f"_{name}" in code.co_names


def _is_inner(owner: Any, thing: Any) -> bool:  # noqa: ANN401
    """Whether this only carries what the owner calls by name: attributes, a closure."""
    if type(thing) is CellType or type(thing) is TracebackType:
        return True
    if type(owner) is FunctionType and owner.__closure__ is thing:
        return True
    try:
        return object.__getattribute__(owner, "__dict__") is thing
    except Exception:  # noqa: BLE001 - it has none, or its class answers as it likes
        return False
