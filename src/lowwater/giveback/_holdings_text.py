"""Holdings as text: a line for the sums, then a table that fits a terminal of 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lowwater.model.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lowwater.giveback.holdings import Holdings
    from lowwater.model.holding import Holding

_WIDTH = 80
# More rows than a screen has are not read; `to_dict()` has all of them.
_MOST_ROWS = 16
NOT_ATTRIBUTED = "not attributed"
_REST = "in use, but in no object that was found"
_SHARED = "some tensors share memory"


class TableLine(NamedTuple):
    """One row as it is shown."""

    kind: str
    number: str
    size: str
    place: str
    held_by: str
    where: str = ""


def render(holdings: Holdings) -> str:
    """All of it, one fact per line."""
    return "\n".join(_lines(holdings))


def headline(holdings: Holdings) -> str:
    """What is in use in each place."""
    told = [
        f"{place} {'not measured' if total is None else format_bytes(total)}"
        for place, total in holdings.in_use_bytes.items()
    ]
    return f"in use: {', '.join(told)}"


def told_rows(holdings: Holdings) -> Iterator[TableLine]:
    """The largest, the sum of all others, and what was not found, for each place."""
    for row in holdings.rows[:_MOST_ROWS]:
        size = format_bytes(row.size_bytes)
        yield TableLine(row.kind, f"{row.count:,}", size, row.place, row.held_by, row.where or "")
    yield from _smaller(holdings.rows[_MOST_ROWS:])
    for place, rest in holdings.not_attributed_bytes.items():
        if rest is not None:
            why = _REST if rest >= 0 else _SHARED
            yield TableLine(NOT_ATTRIBUTED, "", format_bytes(rest), place, why)


def told_notes(holdings: Holdings) -> Iterator[str]:
    """What keeps it from being complete; one sentence for all places with the same reason."""
    silent = [place for place, total in holdings.in_use_bytes.items() if total is None]
    reasons = {place: holdings.not_measured.get(place, "") for place in silent}
    for why in dict.fromkeys(reasons.values()):
        alike = ", ".join(place for place in silent if reasons[place] == why)
        yield f"{alike}: bytes in use not measured: {why}"
    yield from holdings.notes


def _smaller(rows: tuple[Holding, ...]) -> Iterator[TableLine]:
    for place in dict.fromkeys(row.place for row in rows):
        alike = [row for row in rows if row.place == place]
        size = format_bytes(sum(row.size_bytes for row in alike))
        count = f"{sum(row.count for row in alike):,}"
        yield TableLine("smaller", count, size, place, f"{len(alike)} more rows")


def _lines(holdings: Holdings) -> Iterator[str]:
    yield headline(holdings)
    rows = [TableLine("kind", "count", "bytes", "place", "held by"), *told_rows(holdings)]
    # A name of a remainder may reach into the column of counts, which it leaves empty.
    wide = [max(len(row[column]) for row in rows) for column in range(4)]
    wide[0] = max(len(row.kind) for row in rows if row.kind != NOT_ATTRIBUTED)
    wide[1] = max(wide[1], len(NOT_ATTRIBUTED) - wide[0] - 2)
    for row in rows:
        lead = f"{row.kind:<{wide[0]}}  {row.number:>{wide[1]}}"
        if row.kind == NOT_ATTRIBUTED:
            lead = f"{row.kind:<{wide[0] + 2 + wide[1]}}"
        begin = f"{lead}  {row.size:>{wide[2]}}  {row.place:<{wide[3]}}  "
        yield (begin + _holder(row, _WIDTH - len(begin))).rstrip()
    yield from (f"note: {note}" for note in told_notes(holdings))


def _holder(row: TableLine, room: int) -> str:
    """Both if there is room; else the end of the path, and of a name what is left."""
    if not row.where:
        return _cut(row.held_by, room)
    where = f" at {row.where}"
    if len(row.held_by) + len(where) > room:
        where = f" at {row.where.rpartition('/')[2]}"
    name = _cut(row.held_by, max(8, room - len(where)))
    return _cut(name + where, room)


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 1]}…"
