"""The ledger as a small table: one line per row of a layer, with its sparkline."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Final

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lowwater.model import LedgerRow
from lowwater.model.printable import one_line
from lowwater.model.units import format_bytes
from lowwater.report.sparkline import sparkline

_TITLES: Final = ("start", "highest", "end")
_GAP: Final = 2
_INDENT: Final = 2
_WIDEST_SPARKLINE: Final = 16
_NARROWEST_SPARKLINE: Final = 4
_SMALL_SHARE: Final = 0.03


@dataclass(frozen=True, slots=True)
class _Layout:
    """What is shown: from which figure on, how many blocks, and the least change they draw."""

    first_figure: int
    blocks: int
    least_change_bytes: float


def ledger_table(rows: Iterable[LedgerRow], width: int, *, is_leak: bool) -> RenderableType:
    """All rows under the names of their layers, fitted to `width`."""
    rows = [row for row in rows if row.series]
    layout = _layout(rows, width - _INDENT, is_leak=is_leak)
    table = _empty_table(layout)
    for layer, members in groupby(rows, key=attrgetter("layer")):
        _add_layer(table, one_line(layer), list(members), layout)
    return Padding(Group(table, *_remarks(rows)), (0, 0, 0, _INDENT))


def summary_table(rows: Iterable[LedgerRow], width: int, *, is_leak: bool) -> RenderableType:
    """One row for each layer, without names of layers and remarks."""
    rows = [row for row in rows if row.series]
    layout = _layout(rows, width, is_leak=is_leak)
    table = _empty_table(layout, "Where the memory is")
    _add_rows(table, rows, layout)
    return table


def _layout(rows: Sequence[LedgerRow], width: int, *, is_leak: bool) -> _Layout:
    largest = max((max(row.series) - min(row.series) for row in rows), default=0)
    names = [cell_len(name) for row in rows for name in (_name(row), one_line(row.layer))]
    figures = zip(_TITLES, *map(_figures, rows), strict=True)
    widths = [max(map(len, column)) + _GAP for column in figures]
    room = width - max(names, default=0) - sum(widths)
    # On a narrow screen the sparkline goes first, then the start: the others tell what matters.
    blocks = min(_WIDEST_SPARKLINE, room - _GAP)
    return _Layout(
        first_figure=1 if room < 0 else 0,
        blocks=blocks if blocks >= _NARROWEST_SPARKLINE else 0,
        # A slow leak must show however small. Without one, 2 MiB beside 200 are no mountain.
        least_change_bytes=0 if is_leak else largest * _SMALL_SHARE,
    )


def _empty_table(layout: _Layout, title: str = "") -> Table:
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="dim")
    table.add_column(Text(title, "bold not dim"), overflow="fold")
    for figure in _TITLES[layout.first_figure :]:
        table.add_column(figure, justify="right", no_wrap=True)
    if layout.blocks:
        table.add_column("", no_wrap=True)
    return table


def _add_layer(table: Table, layer: str, rows: list[LedgerRow], layout: _Layout) -> None:
    table.add_row(Text(layer, "dim"))
    _add_rows(table, rows, layout)


def _add_rows(table: Table, rows: list[LedgerRow], layout: _Layout) -> None:
    for row in rows:
        figures = (Text(figure) for figure in _figures(row)[layout.first_figure :])
        table.add_row(Text(_name(row)), *figures, *_shape(row, layout))


def _shape(row: LedgerRow, layout: _Layout) -> Iterator[Text]:
    if layout.blocks:
        least = layout.least_change_bytes
        yield Text(sparkline(row.series, layout.blocks, least_change=least), "cyan")


def _name(row: LedgerRow) -> str:
    return f"{' ' * _INDENT}{one_line(row.name)}{'*' if row.remark else ''}"


def _figures(row: LedgerRow) -> tuple[str, str, str]:
    about = "~" if row.is_estimate else ""
    return (
        f"{about}{format_bytes(row.first_bytes)}",
        f"{about}{format_bytes(row.highest_bytes)}",
        f"{about}{format_bytes(row.last_bytes)}",
    )


def _remarks(rows: list[LedgerRow]) -> Iterator[Text]:
    for row in rows:
        if row.remark:
            yield Text(one_line(f"* {row.name}: {row.remark}"), "dim")
    if any(row.is_estimate for row in rows):
        yield Text("~ estimated", "dim")
