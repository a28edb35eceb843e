"""Whether a path still holds the things that it held at an earlier census.

A path stays while its objects come and go. A model that is built again in every round, a list that
is emptied at the start of each: caught early in one round and late in another, such a path holds
more than before, and nothing has grown. What grows still holds what it held.

An address alone proves nothing: the next array is often made where the last one was.
"""

import weakref
import zlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from lowwater.agent.census.kinds import derives, is_a, kind_of
from lowwater.agent.census.nodes import Node
from lowwater.agent.census.references import MEASURABLE

Weak = weakref.ref[Any]

# How many items of a container are remembered, and among how many of its first they are sought.
_SAMPLE = 8
_MOST_ITEMS = 100_000
# Old items may leave a container that grows, but not most of them.
_LEAST_LEFT = 0.5
# So deep in an item there is something to know it by: `(array, label)` is known by its array.
_DEEPEST = 3
# These are the same objects in every round, whoever holds them.
_ANYBODYS = (type, FunctionType, BuiltinFunctionType, ModuleType)
_RAW = frozenset({str, bytes, bytearray})
# A shorter text may be a constant of the program's; of a longer one so much is looked at.
_LONG_TEXT = 32
_MOST_TEXT = 4_096


@dataclass(frozen=True, slots=True)
class _KnownItem:
    """What an item is known by later: an object in it that still lives, else its content."""

    address: int
    thing: Weak | None
    content: float | None


@dataclass(frozen=True, slots=True)
class Trail:
    """What a path held at one census, told without keeping any of it alive.

    `owner` is the nearest object on the way that can be referred to weakly; `container` is the
    address of the object that the path leads to, and `items` are some of what is in it.
    """

    owner: Weak | None
    container: int | None = None
    items: tuple[_KnownItem, ...] = ()


def trail_of(node: Node) -> Trail:
    """What to remember of a path."""
    owner = next(filter(None, map(_weakly, _alone(node))), None)
    if node.count != 1 or not node.objects:
        return Trail(owner)
    container = node.objects[0]
    return Trail(owner, id(container), tuple(_known_items(node.kind, container)))


def has_stayed(node: Node, trail: Trail) -> bool:
    """Whether what is on this path now is what was there then, with more to it."""
    if node.count != 1 or not trail.items:
        return trail.owner is None or any(trail.owner() is thing for thing in _alone(node))
    container = node.objects[0]
    items = {id(item): item for item in _items(node.kind, container)}
    left = sum(known.address in items and _is(items[known.address], known) for known in trail.items)
    if left >= _LEAST_LEFT * len(trail.items):
        return True
    # What comes in at one end leaves at the other, and still it may get longer.
    return derives(node.kind, deque) and id(container) == trail.container


def _alone(node: Node) -> Iterator[Any]:
    """The objects on the way up that are alone on their path, without the root.

    What has no parts is not its own owner: an array is made again to get longer.
    """
    for one in node.path_up():
        if one.parent is not None and one.count == 1 and one.objects and one.children:
            yield one.objects[0]


def _weakly(thing: Any) -> Weak | None:  # noqa: ANN401
    try:
        return weakref.ref(thing)
    except TypeError:
        return None


def _known_items(kind: type, container: Any) -> Iterator[_KnownItem]:  # noqa: ANN401
    if kind not in MEASURABLE:
        return
    every = min(len(container), _MOST_ITEMS) // _SAMPLE + 1
    for item in _items(kind, container, every):
        known_by = _known_by(item)
        thing, content = _weakly(known_by), _content(known_by)
        if not is_a(known_by, *_ANYBODYS) and (thing is not None or content is not None):
            yield _KnownItem(id(item), thing, content)


def _is(item: Any, known: _KnownItem) -> bool:  # noqa: ANN401
    known_by = _known_by(item)
    return known.thing() is known_by if known.thing else known.content == _content(known_by)


def _known_by(item: Any) -> Any:  # noqa: ANN401
    """The item itself, or what comes first in a plain container."""
    for _ in range(_DEEPEST):
        kind = kind_of(item)
        if kind not in MEASURABLE or not item:
            break
        item = _items(kind, item, most=1)[0]
    return item


def _items(kind: type, container: Any, every: int = 1, most: int = _MOST_ITEMS) -> list[Any]:  # noqa: ANN401
    """Made at one go: another thread may add to it."""
    things = dict.values(container) if derives(kind, dict) else container
    return [*islice(things, 0, most, every)]


def _content(thing: Any) -> float | None:  # noqa: ANN401
    """A number that hardly anything else has."""
    kind = kind_of(thing)
    if kind is float:
        return float(thing)
    if kind not in _RAW or len(thing) <= _LONG_TEXT:
        return None
    part = thing[:_MOST_TEXT]
    return zlib.crc32(part.encode(errors="replace") if kind is str else part)
