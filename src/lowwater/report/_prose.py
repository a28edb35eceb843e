"""The pieces that sections are built of: headings, sentences, and places that fit."""

from collections.abc import Iterable
from typing import Final

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from lowwater.model.printable import printable

INDENT: Final = 2


def section(title: str, lines: Iterable[RenderableType]) -> RenderableType:
    """A heading with indented lines below it."""
    return Group(heading(title), indented(*lines))


def indented(*lines: RenderableType) -> RenderableType:
    """The lines, a little to the right."""
    return Padding(Group(*lines), (0, 0, 0, INDENT))


def heading(title: str) -> Text:
    """The first line of a section."""
    return Text(title, "bold")


def prose(text: str) -> Text:
    """Printable text in which `code` stands out."""
    told = Text(printable(text))
    told.highlight_regex(r"`[^`\n]+`", "cyan")
    return told


def end_of(text: str, width: int) -> str:
    """The text, or as much of its end as fits behind a `…`: a path's end says the file and line."""
    if cell_len(text) <= width:
        return text
    end = text[len(text) - width :]
    while end and cell_len(end) >= width:
        end = end[1:]
    return f"…{end}"
