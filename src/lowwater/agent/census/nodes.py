"""The tree of paths: all objects that are reached in the same way share one node."""

from collections.abc import Iterator
from typing import Any

from lowwater.agent.census.describe import type_name
from lowwater.agent.census.kinds import is_made_by_class_statement

# Deeper paths end in the node at this depth; a linked list would make one node per link.
_DEEPEST = 40
# What a node takes, with its dictionary, its name and the objects that it remembers.
NODE_BYTES = 1_000


class Node:
    """All objects that are reached over the same path."""

    __slots__ = (
        "bytes_below", "children", "count", "depth", "fan_out", "is_followed", "is_users", "key",
        "kind", "label", "objects", "own_bytes", "parent",
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
        self.key: int = key_of(self, parent.key if parent else 0)
        self.is_followed = False
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


def key_of(node: Node, above: int) -> int:
    """A number for the path that is the same in every census of this process."""
    return hash((above, node.label, type_name(node.kind)))
