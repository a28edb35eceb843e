"""The leak trace of a survivor: from the variable that holds it down to the object."""

from dataclasses import dataclass
from typing import Any

from lowwater.census.describe import about
from lowwater.census.kinds import qualname_of
from lowwater.giveback.living import Watched
from lowwater.model import Status, TraceNode

# A trace is read at a glance, or not at all.
_MOST_NODES = 8
_AT_EACH_END = 3
_CONTAINERS = (list, tuple, dict, set, frozenset)


@dataclass(frozen=True, slots=True)
class Root:
    """A variable: its value, and in words where it is found.

    `needed` is why the program still wants the value, where that is known.
    """

    name: str
    held_by: str
    where: str | None
    value: Any
    place: str = ""
    is_local: bool = False
    needed: str = ""


def trace_of(one: Watched, root: Root, way: list[tuple[str, Any]]) -> tuple[TraceNode, ...]:
    """The place of the variable, what lies between, and the object; each step by its label."""
    lives = "the call is running" if root.is_local else "a module lives as long as the program"
    first = TraceNode("", root.place, Status.NEEDED, lives, root.where)
    edge = f"local {root.name}" if root.is_local else f".{root.name}"
    steps = [(edge, root.value), *way]
    nodes = [_node(edge, _what(thing), root) for edge, thing in steps[:-1]]
    nodes.append(_end(steps[-1][0], one, root))
    if root.needed and len(nodes) > 1:
        nodes[0] = TraceNode(edge, nodes[0].what, Status.NEEDED, root.needed)
    return (first, *_shortened(nodes))


def _node(edge: str, what: str, root: Root) -> TraceNode:
    return TraceNode(edge or "…", what, Status.UNKNOWN, "", is_suspect=not root.needed)


def _end(edge: str, one: Watched, root: Root) -> TraceNode:
    if root.needed:
        return TraceNode(edge or "…", one.what, Status.NEEDED, root.needed)
    because = "it was to be given back"
    return TraceNode(edge or "…", one.what, Status.LEAKED, because, is_suspect=True)


def _what(thing: Any) -> str:  # noqa: ANN401
    """`Study`, `list, 3 items`, `function step`."""
    kind = type(thing)
    name = qualname_of(kind).rpartition(".")[2]
    told = about(thing)
    is_container = any(kind is one for one in _CONTAINERS)
    return f"{name}, {told}" if is_container and told else f"{name} {told}".rstrip()


def _shortened(nodes: list[TraceNode]) -> list[TraceNode]:
    if len(nodes) <= _MOST_NODES:
        return nodes
    left_out = len(nodes) - 2 * _AT_EACH_END
    between = TraceNode("", f"… {left_out} more", Status.UNKNOWN, "")
    return [*nodes[:_AT_EACH_END], between, *nodes[-_AT_EACH_END:]]
