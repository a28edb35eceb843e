"""A leak trace as text art: one line per object, from a root of the program to what grew."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.text import Text

from lowwater.model import Status, TraceNode
from lowwater.model.printable import printable
from lowwater.model.trace_lines import GAP, RAIL, Part, lines_of
from lowwater.report._prose import end_of

# Places stand below each other in this column, or a gap behind a longer name.
_PLACE_COLUMN: Final = 32
_MOST_BELOW: Final = 2
_STYLES: Final = {Status.NEEDED: "green", Status.LEAKED: "red", Status.UNKNOWN: "dim"}


def in_brief(nodes: tuple[TraceNode, ...], *, reasons: bool = True) -> tuple[TraceNode, ...]:
    """The same trace for a first look: few objects below the one that grew, without reasons.

    Without `reasons` those above it have none either.
    """
    grown = next((n for n, node in enumerate(nodes) if node.status is Status.LEAKED), len(nodes))
    above = nodes[:grown] if reasons else map(_without_reason, nodes[:grown])
    return (*_with_one_mark([*above, *nodes[grown : grown + 1]]), *_few(nodes[grown + 1 :]))


def _with_one_mark(nodes: list[TraceNode]) -> Iterator[TraceNode]:
    last = max((n for n, node in enumerate(nodes) if node.is_suspect), default=None)
    return (replace(node, is_suspect=n == last) for n, node in enumerate(nodes))


def _few(nodes: tuple[TraceNode, ...]) -> Iterator[TraceNode]:
    """The first and the last of them; dots say that there are more between."""
    if len(nodes) > _MOST_BELOW:
        nodes = (nodes[0], _after_dots(nodes[-1]))
    return map(_without_reason, nodes)


def _after_dots(node: TraceNode) -> TraceNode:
    if node.edge:
        return replace(node, edge=f"… {node.edge}")
    return replace(node, what=f"… {node.what}")


def _without_reason(node: TraceNode) -> TraceNode:
    return replace(node, because="", is_suspect=False)


@dataclass(frozen=True, slots=True)
class LeakTrace:
    """Draws the nodes in the width that there is: names are cut with `…`, reasons are wrapped."""

    nodes: tuple[TraceNode, ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """The lines, each of them at most as wide as `options` allow."""
        room = max(1, options.max_width - len(RAIL))
        for line in lines_of(self.nodes):
            node = line.node
            if line.part is Part.MARK:
                yield _line(line.rail, _underline(node.edge, room))
            elif line.part is Part.NAME:
                yield _line(line.rail, _name(node, room, is_root=line.is_root))
            else:
                for reason in _reason(node).wrap(console, max(1, room - len(GAP))):
                    yield _line(line.rail, reason)


def _line(rail: str, text: Text) -> Text:
    return Text(no_wrap=True, overflow="ellipsis").append(rail, "dim").append_text(text)


def _underline(edge: str, room: int) -> Text:
    """As wide as the name of the edge, whose dot is no part of it."""
    edge = _on_one_line(edge)
    name = edge.lstrip(".")
    dots = len(edge) - len(name)
    return Text(" " * dots).append("~" * min(cell_len(name), room - dots), "bold")


def _name(node: TraceNode, room: int, *, is_root: bool) -> Text:
    label = _label(node)
    if not node.where:
        return label
    place = Text().append(end_of(_on_one_line(node.where), room // 2), "cyan")
    if is_root and not node.edge:
        # A root is a place in the program: it is read before what stands there.
        return place.append(GAP).append_text(label)
    rest = max(1, room - len(GAP) - place.cell_len)
    column = min(_PLACE_COLUMN - len(GAP), rest)
    label.truncate(max(column, min(label.cell_len, rest)), overflow="ellipsis", pad=True)
    return label.append(GAP).append_text(place)


def _label(node: TraceNode) -> Text:
    edge, what = _on_one_line(node.edge), _on_one_line(node.what)
    label = Text().append(edge or what, "bold" if node.is_suspect else None)
    return label.append(f": {what}") if edge and what else label


def _reason(node: TraceNode) -> Text:
    told = Text().append(node.status, _STYLES[node.status])
    return told.append(f": {_on_one_line(node.because)}")


def _on_one_line(text: str) -> str:
    # Unlike `one_line` it keeps double blanks, which set a size apart from a name.
    return printable(text).replace("\n", " ").strip()
