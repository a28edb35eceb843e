"""How a leak trace is drawn: its rails and bends, one object per line, without colours."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from lowwater.model.found import TraceNode

FIRST: Final = "┬─ "
NEXT: Final = "├─ "
LAST: Final = "╰→ "
RAIL: Final = "│  "
NO_RAIL: Final = "   "
GAP: Final = "  "


class Part(Enum):
    """What of a node stands on a line."""

    MARK = "mark"
    NAME = "name"
    REASON = "reason"


@dataclass(frozen=True, slots=True)
class TraceLine:
    """One line of a trace: what is drawn before the text, and whose text it is."""

    rail: str
    part: Part
    node: TraceNode
    is_root: bool = False


def lines_of(nodes: Sequence[TraceNode]) -> Iterator[TraceLine]:
    """The lines from the root to the last object; a suspect is marked above its name."""
    last = len(nodes) - 1
    for number, node in enumerate(nodes):
        if node.is_suspect and node.edge:
            yield TraceLine(RAIL if number else NO_RAIL, Part.MARK, node)
        bend = LAST if number == last else NEXT if number else FIRST
        yield TraceLine(bend, Part.NAME, node, is_root=number == 0)
        if node.because:
            rail = NO_RAIL if number == last else RAIL
            yield TraceLine(rail + GAP, Part.REASON, node)


def as_text(nodes: Sequence[TraceNode]) -> list[str]:
    """The same as plain lines, each as long as it is."""
    return [line.rail + _text(line) for line in lines_of(nodes)]


def _text(line: TraceLine) -> str:
    node = line.node
    if line.part is Part.MARK:
        name = node.edge.lstrip(".")
        return " " * (len(node.edge) - len(name)) + "~" * len(name)
    if line.part is Part.REASON:
        return f"{node.status}: {node.because}"
    label = ": ".join(filter(None, (node.edge, node.what)))
    if not node.where:
        return label
    # A root is a place in the program: it is read before what stands there.
    parts = (node.where, label) if line.is_root and not node.edge else (label, node.where)
    return GAP.join(parts)
