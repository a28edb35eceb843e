"""The leak trace of a survivor: from the variable that holds it down to the object."""

from types import FrameType
from typing import Any

from lowwater.agent.census.describe import about
from lowwater.agent.census.kinds import qualname_of
from lowwater.giveback.frames import line_of
from lowwater.giveback.living import Watched
from lowwater.giveback.program_variables import Root
from lowwater.giveback.ways import Way
from lowwater.model import Status, TraceNode

# A trace is read at a glance, or not at all.
_MOST_NODES = 8
_AT_EACH_END = 3
_CONTAINERS = (list, tuple, dict, set, frozenset)


def trace_of(one: Watched, way: Way, *, was_to_go: bool = True) -> tuple[TraceNode, ...]:
    """The place of the variable, what lies between, and the object; each step by its label."""
    root = way.root
    first = TraceNode("", root.place, Status.NEEDED, root.lives, root.where)
    steps = [(root.edge, root.value), *way.steps]
    nodes = [_node(edge, _what(thing), root) for edge, thing in steps[:-1]]
    nodes.append(_end(steps[-1][0], one, root, was_to_go=was_to_go))
    if root.needed and len(nodes) > 1:
        nodes[0] = TraceNode(root.edge, nodes[0].what, Status.NEEDED, root.needed)
    return (first, *_shortened(nodes))


def _node(edge: str, what: str, root: Root) -> TraceNode:
    return TraceNode(edge or "…", what, Status.UNKNOWN, "", is_suspect=not root.needed)


def _end(edge: str, one: Watched, root: Root, *, was_to_go: bool) -> TraceNode:
    if root.needed:
        return TraceNode(edge or "…", one.what, Status.NEEDED, root.needed)
    if not was_to_go:
        return TraceNode(edge or "…", one.what, Status.UNKNOWN, "", is_suspect=True)
    because = "it should have been released"
    return TraceNode(edge or "…", one.what, Status.LEAKED, because, is_suspect=True)


def _what(thing: Any) -> str:  # noqa: ANN401
    """`Study`, `list, 3 items`, `function step`, `call of train() that has ended, train.py:7`."""
    kind = type(thing)
    if kind is FrameType:
        return f"call of {about(thing)} that has ended, {line_of(thing)}"
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
