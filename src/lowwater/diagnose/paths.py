"""Finds the objects again that a leak trace of an earlier run has led to, by the same names."""

import functools
import gc
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import CellType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from lowwater.agent.census.describe import about, type_name
from lowwater.agent.census.edges import label, parts_of
from lowwater.agent.census.kinds import derives, is_a
from lowwater.agent.census.references import LEAVES, OPEN
from lowwater.agent.census.roots import frames_now, namespace
from lowwater.model import Step
from lowwater.model.user_code import is_own

# ruff: noqa: ANN401 - objects of the program

# More objects on one path than this are data; the latest of them will do.
_MOST_OBJECTS = 2_000
# So far below the end of a vague path is looked for what grows.
_DEEPEST = 6
_MOST_BELOW = 20_000
_NOT_FOLLOWED: tuple[Any, ...] = (*LEAVES, FrameType, FunctionType, MethodType, type)
_MODULE, _FRAME = "module", "frame"


class Hop(NamedTuple):
    """One object on the way: the name that leads to it, its type, and what was told of it."""

    edge: str
    type: str
    about: str = ""

    @classmethod
    def of(cls, step: Step) -> "Hop":
        """From a leak trace; only roots are known by what is told of them."""
        is_root = not step.edge
        return cls(step.edge, step.type, step.about if is_root else "")


class PathEnd(NamedTuple):
    """An object at the end of a path, and the one that refers to it."""

    owner: Any
    thing: Any


def find(path: Sequence[Hop]) -> list[PathEnd]:
    """All objects that are reached in this way now; none where a name leads nowhere."""
    reached = [PathEnd(None, root) for root in _roots(path[0])]
    for hop in path[1:]:
        owners = [one.thing for one in reached]
        reached = _unique(found for owner in owners for found in _below(owner, hop))
    return reached


def containers_below(owners: Sequence[Any]) -> Iterator[PathEnd]:
    """Lists, dictionaries and their like not far below some objects, with what refers to them."""
    seen = {id(one) for one in owners}
    level = [PathEnd(None, one) for one in owners]
    for _ in range(_DEEPEST):
        below: list[PathEnd] = []
        for found in level:
            owner = found.owner if _is_namespace(found) else found.thing
            for part in gc.get_referents(found.thing):
                if id(part) not in seen and not is_a(part, *_NOT_FOLLOWED):
                    seen.add(id(part))
                    below.append(PathEnd(owner, part))
            if len(seen) > _MOST_BELOW:
                break
        yield from (one for one in below if is_a(one.thing, *OPEN) and not _is_namespace(one))
        level = below


def name_of(found: PathEnd) -> str:
    """`Dense._outbound_nodes`, or the type alone where it has no name."""
    return f"{type(found.owner).__name__}{label(found.owner, found.thing)}"


def _is_namespace(found: PathEnd) -> bool:
    """Whether it is the `__dict__` of an object, which is no container of its own."""
    if type(found.thing) is not dict or is_a(found.owner, dict):
        return False
    return getattr(found.owner, "__dict__", None) is found.thing


def _roots(hop: Hop) -> Iterator[Any]:
    if hop.type == _MODULE:
        module = sys.modules.get(hop.about)
        return iter(() if module is None else (module,))
    if hop.type == _FRAME:
        return _frames(hop.about)
    return _of_libraries(lambda thing: _is_like(thing, hop) and about(thing) == hop.about)


def _frames(name: str) -> Iterator[FrameType]:
    """The calls of this function that run, or of any function: a library's has no name there."""
    frames = frames_now(is_own)
    named = [one for one in frames if f"{one.f_code.co_qualname}()" == name]
    yield from named or frames


def _of_libraries(is_meant: Callable[[Any], bool]) -> Iterator[Any]:
    """What modules name themselves: a class, say, or a function that keeps something."""
    for module in [*sys.modules.values()]:
        if derives(type(module), ModuleType):
            yield from (value for value in [*namespace(module).values()] if is_meant(value))


def _below(owner: Any, hop: Hop) -> Iterator[PathEnd]:
    """What an object refers to by this name; where it has no name for it, what is of this type."""
    named = [
        part for name, part in parts_of(owner) if _matches(name, hop.edge) and _is_like(part, hop)
    ]
    for part in named or _unnamed(owner, hop):
        yield PathEnd(owner, part)


def _unnamed(owner: Any, hop: Hop) -> Iterator[Any]:
    """Through a cell or a dictionary of attributes as well: no reader would call these objects."""
    if hop.edge and not hop.edge.startswith(".") and type(owner) is not FrameType:
        return
    for part in gc.get_referents(owner):
        if _is_like(part, hop) and (not hop.edge or _is_cache(owner)):
            yield part
        elif type(part) is CellType and not hop.edge:
            yield from (one for one in gc.get_referents(part) if _is_like(one, hop))
        elif type(part) is dict and hop.edge.startswith("."):
            inside = part.get(hop.edge[1:])
            if _is_like(inside, hop):
                yield inside


def _is_cache(owner: Any) -> bool:
    return type(owner) is functools._lru_cache_wrapper  # noqa: SLF001


def _matches(name: str, edge: str) -> bool:
    """Whether a name is the one that was recorded; keys are told only while they are few."""
    if name == edge or not edge:
        return True
    return edge == "[*]" and name.startswith("[")


def _is_like(thing: Any, hop: Hop) -> bool:
    return type_name(type(thing)) == hop.type


def _unique(found: Iterable[PathEnd]) -> list[PathEnd]:
    by_place: dict[int, PathEnd] = {}
    for one in found:
        by_place.setdefault(id(one.thing), one)
        if len(by_place) >= _MOST_OBJECTS:
            break
    return [*by_place.values()]
