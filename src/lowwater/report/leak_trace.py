"""A leak trace as text art: one line per object, from a root of the program to what grew."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.text import Text

from lowwater.model import Status, TraceNode
from lowwater.report._prose import end_of
from lowwater.report._words import printable

_FIRST: Final = "┬─ "
_NEXT: Final = "├─ "
_LAST: Final = "╰→ "
_RAIL: Final = "│  "
_NO_RAIL: Final = "   "
_GAP: Final = "  "
# Places stand below each other in this column, or a gap behind a longer name.
_PLACE_COLUMN: Final = 32
_STYLES: Final = {Status.NEEDED: "green", Status.LEAKED: "red", Status.UNKNOWN: "dim"}


@dataclass(frozen=True, slots=True)
class LeakTrace:
    """Draws the nodes in the width that there is: names are cut with `…`, reasons are wrapped."""

    nodes: tuple[TraceNode, ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """The lines, each of them at most as wide as `options` allow."""
        room = max(1, options.max_width - len(_RAIL))
        last = len(self.nodes) - 1
        for number, node in enumerate(self.nodes):
            if node.is_suspect and node.edge:
                yield _line(_RAIL if number else _NO_RAIL, _underline(node.edge, room))
            bend = _LAST if number == last else _NEXT if number else _FIRST
            yield _line(bend, _name(node, room, is_root=number == 0))
            if node.because:
                for line in _reason(node).wrap(console, max(1, room - len(_GAP))):
                    yield _line((_NO_RAIL if number == last else _RAIL) + _GAP, line)


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
        return place.append(_GAP).append_text(label)
    rest = max(1, room - len(_GAP) - place.cell_len)
    column = min(_PLACE_COLUMN - len(_GAP), rest)
    label.truncate(max(column, min(label.cell_len, rest)), overflow="ellipsis", pad=True)
    return label.append(_GAP).append_text(place)


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
