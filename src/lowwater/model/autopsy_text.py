"""An autopsy in about a dozen lines, for a terminal, a note of an exception, or a log."""

import textwrap
from collections.abc import Iterator
from typing import Final

from lowwater.model.autopsy import Autopsy
from lowwater.model.gauges import HOST
from lowwater.model.holding import GROWN, Holding
from lowwater.model.out_of_memory import AllocationRequest
from lowwater.model.printable import one_line
from lowwater.model.units import format_bytes

WIDTH: Final = 80
_MOST_HELD: Final = 4
_LABEL: Final = 11
_MOST_LINES: Final = 3
# What holds less than this part of the largest says nothing.
_LEAST_SHARE: Final = 20


def title(autopsy: Autopsy) -> str:
    """The word that matters."""
    return f"Out of memory: {autopsy.manner.value}"


def lines(autopsy: Autopsy, width: int = WIDTH) -> list[str]:
    """The whole block, with its title."""
    return [title(autopsy), *(f"  {line}" for line in body(autopsy, width - 2))]


def body(autopsy: Autopsy, width: int, *, with_steps: bool = True) -> Iterator[str]:
    """What stands below the title, each line at most `width` wide, commands excepted."""
    because = autopsy.because
    yield from _wrapped(f"{because[:1].upper()}{because[1:]}.", width)
    for label, text in _facts(autopsy):
        told = textwrap.wrap(one_line(text), max(20, width - _LABEL)) or [""]
        if len(told) > _MOST_LINES:
            told = [*told[: _MOST_LINES - 1], f"{told[_MOST_LINES - 1][:-1]}…"]
        for number, line in enumerate(told):
            yield f"{label if number == 0 else '':<{_LABEL}}{line}".rstrip()
    for note in autopsy.notes[:1]:
        yield from _wrapped(f"Note: {note}.", width)
    if with_steps and autopsy.advice:
        yield f"{autopsy.advice}{':' if autopsy.commands else '.'}"
        yield from (f"  {one_line(command)}" for command in autopsy.commands)


def _facts(autopsy: Autopsy) -> Iterator[tuple[str, str]]:
    if autopsy.request is not None:
        yield "Asked for", _asked(autopsy.request)
    if autopsy.limit_bytes is not None or autopsy.in_use_bytes is not None:
        yield "In use", _in_use(autopsy)
    if autopsy.held or autopsy.held_note:
        yield "Held by", _held(autopsy)
    if autopsy.pool is not None and autopsy.pool.free_pieces:
        pool = autopsy.pool
        pieces = f"{pool.free_pieces:,} piece{'' if pool.free_pieces == 1 else 's'}"
        largest = format_bytes(pool.largest_free_bytes)
        yield "Free", f"{format_bytes(pool.free_bytes)} in {pieces}, the largest {largest}"
    if autopsy.about_batch:
        yield "Batch", autopsy.about_batch


def _asked(request: AllocationRequest) -> str:
    size = "an unknown amount" if request.size_bytes is None else format_bytes(request.size_bytes)
    shape = "" if request.shape is None else f"shape {[*request.shape]}"
    what = " ".join(filter(None, [request.dtype, shape]))
    told = f"{size} ({what})" if what else size
    told += f" by {request.operation.rpartition('/')[2]}" if request.operation else ""
    told += f" at {request.where}" if request.where else ""
    if request.call:
        batch = f" with batch size {request.batch_size}" if request.batch_size else ""
        told += f", in {request.call}{batch}"
    return told


def _in_use(autopsy: Autopsy) -> str:
    used, limit, kept = autopsy.in_use_bytes, autopsy.limit_bytes, autopsy.kept_bytes
    told = "an unknown part" if used is None else format_bytes(used)
    if limit is not None:
        told += f" of {format_bytes(limit)}"
    told += _where(autopsy)
    if used is not None and kept is not None and kept < used:
        told += f"; {format_bytes(used - kept)} of it belonged to the step that failed"
    return told


def _where(autopsy: Autopsy) -> str:
    if autopsy.limit_name and autopsy.limit_name != autopsy.place:
        return f" in {autopsy.limit_name}"
    return " on the host" if autopsy.place == HOST else f" on {autopsy.place}"


def _held(autopsy: Autopsy) -> str:
    largest = max((one.size_bytes for one in autopsy.held), default=0)
    rows = [one for one in autopsy.held if one.size_bytes * _LEAST_SHARE >= largest]
    told = "; ".join(_row(one) for one in rows[:_MOST_HELD])
    if not told:
        return autopsy.held_note
    return f"{told} ({autopsy.held_note})" if autopsy.held_note else told


def _row(one: Holding) -> str:
    where = f" ({one.where})" if one.where else ""
    if one.kind == GROWN:
        return f"{one.held_by}{where}: grew by {format_bytes(one.size_bytes)}"
    kind = one.kind if one.count == 1 or one.kind.endswith("s") else f"{one.kind}s"
    count = f"{one.count:,} " if one.count > 1 else ""
    place = "" if one.place == HOST else f" on {one.place}"
    return f"{one.held_by}{where}: {count}{kind}, {format_bytes(one.size_bytes)}{place}"


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(one_line(text), width)
