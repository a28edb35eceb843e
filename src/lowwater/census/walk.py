"""Walks over all objects, breadth first, and adds up what lies on the same path.

Objects come and go, paths stay: `__main__` . `agent` → Agent . `memory` → list → tuple → array.
Objects that are reached in the same way share one node of a tree, so that two walks can be
compared. An object belongs to the first path that reaches it, and the program's own paths go
first: what a library holds as well is still the program's.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from lowwater.census.edges import named_parts
from lowwater.census.kinds import is_made_by_class_statement, kind_of
from lowwater.census.references import LEAVES, NUMBERS, OPEN, References
from lowwater.census.sizes import Sizes

# Deeper paths end in the node at this depth; a linked list would make one node per link.
_DEEPEST = 40
# Objects of a node that are remembered while the census lasts: enough to tell the rest by.
_MOST_REMEMBERED = 64
# More instances of a class than this are data, and their attributes are not told apart.
_FEW = 32
# So many parts have names of their own; in a tree of a million objects each has another path.
_MOST_NAMED = 4_000
# Each takes about 75 bytes while the walk lasts: more than this would hold up the program for too
# long, and take more than 250 MB.
_MOST_OBJECTS = 3_000_000
# What numbers are kept in; one takes a block of 32 bytes. How many there are, and whether they are
# the same few over and over (labels, rewards), so many tell.
_KEEP_NUMBERS = OPEN | {tuple}
_NUMBER_BYTES = 32
_SAMPLE = 4_096
# By their addresses: a type that is looked up in a set is asked for its hash, by its metaclass.
_NUMBERS = frozenset(map(id, NUMBERS))


class Node:
    """All objects that are reached over the same path."""

    __slots__ = (
        "bytes_below", "children", "count", "depth", "fan_out", "is_users", "kind", "label",
        "objects", "own_bytes", "parent",
    )  # fmt: skip

    def __init__(
        self, label: str, kind: type, parent: "Node | None" = None, *, is_users: bool = False
    ) -> None:
        """Begin with no objects; without a `label` the type alone tells the way."""
        self.label = label
        self.kind = kind
        self.parent = parent
        self.depth: int = parent.depth + 1 if parent else 0
        self.is_users: bool = parent.is_users if parent else is_users
        self.children: dict[tuple[str, type], Node] = {}
        self.count = 0
        self.fan_out = 0
        self.own_bytes = 0
        self.bytes_below = 0
        self.objects: list[Any] = []

    def child(self, kind: type, label: str = "") -> "Node":
        """The node for objects of this type below; what recurs on the path is folded."""
        known = self.children.get((label, kind))
        if known is None:
            above = self._above(kind, label)
            known = self.children[label, kind] = above or Node(label, kind, self)
        return known

    def _above(self, kind: type, label: str) -> "Node | None":
        """The node higher up that a tree or a linked list comes back to."""
        alike = (node for node in self.path_up() if node.kind is kind)
        if self.depth >= _DEEPEST:
            return next((node for node in alike if node.depth >= _DEEPEST), None)
        if not label and not is_made_by_class_statement(kind):
            return None  # a list in a list is not the same list
        # A node with a name stands for what the program calls so, and for nothing else.
        return next((node for node in alike if node.label == label), None)

    def path_up(self) -> Iterator["Node"]:
        """This node, the one above, and so on up to the root."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent

    def own_children(self) -> list["Node"]:
        """The nodes right below, without those that were folded into one above."""
        return [node for node in self.children.values() if node.parent is self]

    def all_below(self) -> list["Node"]:
        """This node and all below, every one after the one above it."""
        nodes = [self]
        for node in nodes:  # it grows while we go
            nodes += node.own_children()
        return nodes

    def sum_up(self) -> None:
        """Add up the bytes of this node and of all below."""
        for node in reversed(self.all_below()):
            node.bytes_below += node.own_bytes
            if node.parent is not None:
                node.parent.bytes_below += node.bytes_below

    def forget(self) -> None:
        """Let go of all objects and break the cycles: nothing stays when a census is over."""
        for node in self.all_below():
            node.objects, node.children, node.parent = [], {}, None


@dataclass(slots=True)
class Walk:
    """One walk: what was seen, and what still has to be followed."""

    sizes: Sizes
    references: References
    is_ours: Callable[[type], bool]
    is_users_class: Callable[[type], bool]
    wanted: Callable[[type], bool]
    found: list[Any] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)
    is_complete: bool = True
    _names_left: int = _MOST_NAMED
    _pending: deque[tuple[Node, list[Any]]] = field(default_factory=deque)

    def leave_out(self, things: Iterable[Any]) -> None:
        """Do not follow these, from wherever they are reached."""
        self.seen.update(map(id, things))

    def readmit(self, things: Iterable[Any]) -> None:
        """Follow these after all, from now on."""
        self.seen.difference_update(map(id, things))

    def enter(self, node: Node, label: str, thing: Any) -> None:  # noqa: ANN401
        """Start at an object that a root names."""
        kind = type(thing)
        if id(kind) in _NUMBERS or id(thing) in self.seen or self.is_ours(kind):
            return
        self.seen.add(id(thing))
        self._found(node.child(kind_of(thing), label), [thing])

    def enter_all(self, node: Node, things: Iterable[Any]) -> None:
        """Start at many objects that a root holds, or go on to them."""
        seen, groups = self.seen, dict[int, list[Any]]()
        for thing in things:
            kind = id(type(thing))
            # A list of ten million numbers would need a set of ten million names.
            if kind in _NUMBERS:
                continue
            identity = id(thing)
            if identity not in seen:
                seen.add(identity)
                try:
                    groups[kind].append(thing)
                except KeyError:
                    groups[kind] = [thing]
        for alike in groups.values():
            if not self.is_ours(type(alike[0])):
                self._found(node.child(kind_of(alike[0])), alike)

    def run(self) -> None:
        """Follow everything that was entered."""
        while self._pending:
            if len(self.seen) > _MOST_OBJECTS:
                self.is_complete = False
                self._pending.clear()
                return
            try:
                self._follow(*self._pending.popleft())
            except Exception:  # noqa: BLE001 - one strange class must not hide all the others
                self.is_complete = False

    def forget(self) -> None:
        """Let go of all objects."""
        self.found, self.seen, self._pending = [], set(), deque()

    def _follow(self, node: Node, objects: list[Any]) -> None:
        if node.is_users and node.count <= _FEW and self._names_left > 0:
            for thing in objects:
                for label, part in named_parts(thing, self.is_users_class):
                    self.enter(node, label, part)
                    self._names_left -= 1
        made = self.references.attribute_dicts(node.kind, objects)
        self.leave_out(made)  # what is in them is the objects' own
        node.own_bytes += self.sizes.total(dict, made)
        for referents in self.references.of(node.kind, objects, made):
            self.enter_all(node, referents)
            if node.kind in _KEEP_NUMBERS:
                self._count_numbers(node, referents)

    def _count_numbers(self, node: Node, things: list[Any]) -> None:
        """Numbers are not told apart, but ten million of them are a lot of memory."""
        every = len(things) // _SAMPLE + 1
        sample = things[::every]
        for kind in (float, int):
            numbers = [thing for thing in sample if type(thing) is kind]
            different = len(set(map(id, numbers)))
            if different:
                below = node.child(kind)
                count = len(numbers) * every if different > len(numbers) // 2 else different
                below.count += count
                below.own_bytes += count * _NUMBER_BYTES
                self.sizes.total_bytes += count * _NUMBER_BYTES
                below.objects = below.objects or numbers[:1]

    def _found(self, node: Node, things: list[Any]) -> None:
        kind = node.kind
        node.count += len(things)
        node.own_bytes += self.sizes.total(kind, things)
        if kind in OPEN:
            node.fan_out += sum(map(len, things))
        room = _MOST_REMEMBERED - len(node.objects)
        if room > 0:
            node.objects += things[:room]
        if self.wanted(kind):
            self.found += things
        if kind not in LEAVES:
            self._pending.append((node, things))
