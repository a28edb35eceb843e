"""Holdings for notebooks: a table, in the colours of the page it stands on."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from lowwater.giveback import _holdings_text as text

if TYPE_CHECKING:
    from lowwater.giveback.holdings import Holdings

_LEFT, _RIGHT = "text-align:left", "text-align:right"
_STYLES = (_LEFT, _RIGHT, _RIGHT, _LEFT, _LEFT)


def render(holdings: Holdings) -> str:
    """The facts of the text, every word of the program escaped."""
    head = _row("th", ("kind", "count", "bytes", "place", "held by"))
    rows = "".join(_row("td", _cells(line)) for line in text.told_rows(holdings))
    notes = "".join(f"<div>note: {escape(note)}</div>" for note in text.told_notes(holdings))
    return f"<div><b>{escape(text.headline(holdings))}</b><table>{head}{rows}</table>{notes}</div>"


def _cells(line: text.TableLine) -> tuple[str, ...]:
    held_by = f"{line.held_by} at {line.where}" if line.where else line.held_by
    return (*line[:4], held_by)


def _row(tag: str, cells: tuple[str, ...]) -> str:
    told = (
        f"<{tag} style='{style}'>{escape(cell)}</{tag}>"
        for cell, style in zip(cells, _STYLES, strict=True)
    )
    return f"<tr>{''.join(told)}</tr>"
