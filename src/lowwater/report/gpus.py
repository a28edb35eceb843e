"""The screen of `lowwater gpu`: a table for each GPU, then what looks idle and how to free it."""

import io
from collections.abc import Iterator
from typing import Final

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from lowwater.model import NotMeasured
from lowwater.model.gpu_holders import GpuHolder, HeldGpu, HeldGpus
from lowwater.model.gpus import Gpu
from lowwater.model.printable import one_line
from lowwater.model.processes import Process
from lowwater.model.units import format_bytes, format_duration
from lowwater.report._prose import INDENT, heading, indented, prose
from lowwater.report.gpu_holders import (
    MIG,
    none_measured,
    one_not_measured,
    shortened,
    shown_command,
    unattributed,
)
from lowwater.report.screen import Screen

_TITLES: Final = ("process", "user", "age", "holds")
_GAP: Final = 2
_WIDEST_USER: Final = 16
_NARROWEST_COMMAND: Final = 12
_UNKNOWN: Final = "?"


def render(gpus: HeldGpus, *, width: int = 80, colour: bool = False) -> str:
    """The screen as text, each line at most `width` wide."""
    drawn = io.StringIO()
    console = Screen.drawing(drawn, width, colour=colour)
    for number, block in enumerate(_blocks(gpus, width)):
        if number:
            console.print()
        console.print(block)
    return "".join(f"{line.rstrip()}\n" for line in drawn.getvalue().splitlines())


def _blocks(gpus: HeldGpus, width: int) -> Iterator[RenderableType]:
    if isinstance(gpus, NotMeasured):
        yield prose(none_measured(gpus))
        return
    for index, one in enumerate(gpus):
        if isinstance(one, NotMeasured):
            yield prose(one_not_measured(index, one))
        else:
            yield Group(*_gpu(one, width))


def _gpu(one: HeldGpu, width: int) -> Iterator[RenderableType]:
    yield heading(f"GPU {one.gpu.index}: {one_line(one.gpu.name)}")
    yield indented(*map(prose, _state(one.gpu)))
    holders = () if isinstance(one.holders, NotMeasured) else one.holders
    if holders:
        yield Text()
        yield indented(_table(holders, width - INDENT))
    remarks = [remark for holder in holders for remark in _remarks(holder)]
    if one.gpu.unattributed is not None:
        remarks.insert(0, prose(f"{unattributed(one.gpu)}."))
    if remarks:
        yield Text()
        yield indented(*remarks)


def _state(gpu: Gpu) -> Iterator[str]:
    used = f"{format_bytes(gpu.used_bytes)} of {format_bytes(gpu.total_bytes)} used"
    known = not isinstance(gpu.utilization, NotMeasured)
    busy = f", {gpu.utilization} % busy" if known else ""
    yield f"{format_bytes(gpu.free_bytes)} free, {used}{busy}"
    if isinstance(gpu.utilization, NotMeasured):
        yield f"Utilization is not measured: {one_line(gpu.utilization.why)}."
    if gpu.is_mig:
        yield MIG
    if gpu.processes == () and not gpu.used_bytes:
        yield "No process holds memory."


def _table(holders: tuple[GpuHolder, ...], width: int) -> Table:
    rows = [_figures(holder) for holder in holders]
    widths = [max(map(cell_len, column)) for column in zip(_TITLES, *rows, strict=True)]
    room = max(_NARROWEST_COMMAND, width - sum(widths) - _GAP * len(widths))
    table = Table.grid(padding=(0, _GAP, 0, 0))
    for title in _TITLES:
        table.add_column(justify="left" if title == "user" else "right", no_wrap=True)
    table.add_column(overflow="fold", max_width=room)
    table.add_row(*(Text(title, "dim") for title in (*_TITLES, "command")))
    for holder, row in zip(holders, rows, strict=True):
        table.add_row(*map(Text, row), _described(holder, room))
    return table


def _figures(holder: GpuHolder) -> tuple[str, ...]:
    used_bytes = holder.on_gpu.used_bytes
    user, age = _user_and_age(holder.process)
    held = _UNKNOWN if isinstance(used_bytes, NotMeasured) else format_bytes(used_bytes)
    return str(holder.on_gpu.pid), user, age, held


def _user_and_age(process: Process | NotMeasured) -> tuple[str, str]:
    if isinstance(process, NotMeasured):
        return _UNKNOWN, _UNKNOWN
    user = _UNKNOWN if isinstance(process.user, NotMeasured) else one_line(process.user)
    return shortened(user, _WIDEST_USER), format_duration(process.age_s)


def _described(holder: GpuHolder, room: int) -> Text:
    """The command, and below it what is special about the process."""
    process = holder.process
    if isinstance(process, NotMeasured):
        return Text(one_line(process.why))
    command = shown_command(process, room, cell_len)
    if isinstance(process.arguments, NotMeasured):
        command = one_line(process.arguments.why)
    marks = {
        "looks idle": holder.looks_idle is True,
        "parent is gone": holder.is_parent_gone,
        "notebook kernel": process.is_kernel,
    }
    told = ", ".join(name for name, is_so in marks.items() if is_so)
    return Text(command).append(f"\n{told}" if told else "", "yellow")


def _remarks(holder: GpuHolder) -> Iterator[RenderableType]:
    """What a marked process is marked for, and what would free its memory."""
    if not holder.is_marked or holder.to_free is None:
        return
    idle = f"looks idle: {one_line(holder.because)}." if holder.looks_idle is True else ""
    gone = "The process that started it is gone." if holder.is_parent_gone else ""
    if not idle:
        idle, gone = "has lost its parent: the process that started it is gone.", ""
    used_bytes, action = holder.on_gpu.used_bytes, holder.to_free
    what = "its memory" if isinstance(used_bytes, NotMeasured) else format_bytes(used_bytes)
    free = f"To free {what}, {one_line(action.advice)}{':' if action.command else '.'}"
    yield prose(" ".join(filter(None, [f"Process {holder.on_gpu.pid}", idle, gone, free])))
    if action.command:
        yield indented(Text(action.command, "cyan"))
