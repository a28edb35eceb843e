"""The screen of `lowwater footprint`: peaks by batch, where they go, and what fits."""

import io
from collections.abc import Iterator
from typing import Final

from rich.console import Group, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from lowwater.model.footprint import Buffer, Remedy, StepKind, TensorLimit
from lowwater.model.measured import NotMeasured
from lowwater.model.printable import one_line
from lowwater.model.units import format_bytes, format_duration, format_interval
from lowwater.report._prose import heading, indented, prose, section
from lowwater.report.screen import Screen
from lowwater.sizing.answer import Answer
from lowwater.sizing.found import Footprint
from lowwater.sizing.largest import LargestBatch

_BAR: Final = 24
_EIGHTHS: Final = " ▏▎▍▌▋▊▉"
_LEAST_SHARE: Final = 0.005
_ALIGNED: Final[tuple[JustifyMethod, ...]] = ("left", "right", "right", "left")
TOO_FAR: Final = "The peak cannot be predicted beyond batch {}"


def render(answer: Answer, *, width: int = 80, colour: bool = False) -> str:
    """The screen as text, each line at most `width` wide."""
    drawn = io.StringIO()
    console = Screen.drawing(drawn, width, colour=colour)
    for number, block in enumerate(_blocks(answer)):
        if number:
            console.print()
        console.print(block)
    return "".join(f"{line.rstrip()}\n" for line in drawn.getvalue().splitlines())


def _blocks(answer: Answer) -> Iterator[RenderableType]:
    footprint = answer.footprint
    if answer.story is not None:
        yield Group(*map(prose, _story(answer)))
    yield Group(heading(how_measured(footprint)), Text(), indented(_table(answer)))
    remarks = [*_remarks(answer)]
    if remarks:
        yield Group(*map(prose, remarks))
    yield Group(*_where_it_goes(answer))
    if answer.pipeline:
        yield section("Input pipeline, in host memory once full:", map(prose, _stages(answer)))
    if answer.remedies:
        yield Group(*_remedies(answer))
    yield Group(*_next(answer))


def how_measured(footprint: Footprint) -> str:
    """The heading: at which batches, and how well what extends them fits."""
    train = footprint.curves[StepKind.TRAIN]
    sizes = [str(point.batch_size) for point in train.points]
    listed = f"{', '.join(sizes[:-1])} and {sizes[-1]}" if len(sizes) > 1 else sizes[0]
    head = f"Peak of one training step on {footprint.place}, measured at batch {listed}"
    if train.why_not:
        return f"{head}:"
    steps = sum(len(point.peaks_bytes) for point in train.points)
    how, error = train.extension.how, 100 * train.extension.error
    return f"{head} ({steps} steps), and {how} (fits to {error:.1f} %):"


def _story(answer: Answer) -> Iterator[str]:
    story = answer.story
    assert story is not None
    head = f"The script ran for {format_duration(story.elapsed_s)}, until "
    yield f"{head}`{story.call}` at {one_line(story.where)}; Lowwater ended it there."
    if story.files:
        names = ", ".join(f"`{one_line(name)}`" for name in story.files)
        yield f"Before that, it opened files for writing: {names}."


def _table(answer: Answer) -> Table:
    limit = answer.limit if isinstance(answer.limit, TensorLimit) else None
    table = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(3):
        table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=False)
    of_limit = f"of {format_bytes(limit.limit_bytes)}" if limit else ""
    table.add_row(*(Text(title, "dim") for title in ("batch", "peak", "between", of_limit)))
    for batch_size in _shown_sizes(answer):
        table.add_row(*_row(answer, limit, batch_size))
    return table


def _shown_sizes(answer: Answer) -> list[int]:
    """What was measured and asked for, the largest that fits, and the next that does not."""
    footprint, largest = answer.footprint, answer.largest
    measured = [one.batch_size for one in footprint.measured]
    shown = {*measured[-3:], footprint.batch_size}
    if answer.need is not None:
        shown.add(answer.need.batch_size)
    if isinstance(largest, LargestBatch):
        shown |= {int(largest), 1 << int(largest).bit_length()}
        shown |= {size for size in (1 << (int(largest).bit_length() - 1),) if size < largest}
    return sorted(shown)


def _row(answer: Answer, limit: TensorLimit | None, batch_size: int) -> tuple[Text, ...]:
    told = answer.footprint.at(batch_size)
    is_largest = isinstance(answer.largest, LargestBatch) and batch_size == int(answer.largest)
    number = Text(str(batch_size), "bold" if is_largest else "")
    words = _about(answer, batch_size)
    peak = told.peak_bytes
    if is_largest and isinstance(answer.largest, LargestBatch):
        peak = answer.largest.peak_bytes or peak
    if peak is None:
        return number, Text("?"), Text(""), Text(words or "cannot be predicted")
    span = told.interval_bytes
    between = "measured" if told.is_measured or _is_confirmed(answer, batch_size) else ""
    if not between and span is not None:
        between = format_interval(*span, peak)
    bar = _bar(peak / limit.limit_bytes) if limit and limit.limit_bytes else ""
    shown = Text(words) if words else Text(bar, "cyan")
    return number, Text(format_bytes(peak)), Text(between, "dim"), shown


def _is_confirmed(answer: Answer, batch_size: int) -> bool:
    largest = answer.largest
    return isinstance(largest, LargestBatch) and largest.is_confirmed and batch_size == int(largest)


def _about(answer: Answer, batch_size: int) -> str:
    largest = answer.largest
    if not isinstance(largest, LargestBatch):
        return ""
    if batch_size == int(largest):
        confirmed = "confirmed" if largest.is_confirmed else "not confirmed"
        return f"largest that fits ({confirmed})"
    return "does not fit" if batch_size > largest else ""


def _bar(share: float) -> str:
    """A bar that is full at the limit."""
    eighths = min(8 * _BAR, max(1, round(share * 8 * _BAR)))
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _remarks(answer: Answer) -> Iterator[str]:
    footprint, largest = answer.footprint, answer.largest
    train = footprint.curves[StepKind.TRAIN]
    if train.why_not:
        yield f"{TOO_FAR.format(train.largest)}, because {train.why_not}."
    if isinstance(largest, NotMeasured):
        yield f"No largest batch: {one_line(largest.why)}."
    elif not largest.is_confirmed:
        yield f"The largest batch is {one_line(largest.because)}."
    if isinstance(answer.limit, TensorLimit) and not answer.limit.is_given:
        yield f"The limit: {one_line(answer.limit.because)}."
    elif footprint.place.startswith("CPU") and not isinstance(answer.beside_bytes, NotMeasured):
        beside = format_bytes(answer.beside_bytes)
        yield f"On this host, the process needs about {beside} besides these tensors."
    yield from (f"{one_line(note)}." for note in footprint.notes)
    if footprint.length is not None:
        yield footprint.length.told


def _where_it_goes(answer: Answer) -> Iterator[RenderableType]:
    footprint = answer.footprint
    at = footprint.batch_size
    if isinstance(answer.largest, LargestBatch) and at > answer.largest:
        at = int(answer.largest)
    parts = footprint.parts_at(at)
    total = sum(part.size_bytes for part in parts)
    if total:
        yield heading(f"Where it goes at batch {at}:")
        table = Table.grid(padding=(0, 2, 0, 0))
        for justify in _ALIGNED:
            table.add_column(justify=justify, no_wrap=True)
        for part in parts:
            if part.size_bytes > _LEAST_SHARE * total:
                share = f"{100 * part.size_bytes / total:.0f} %"
                note = "at most" if part.is_at_most else ""
                table.add_row(part.name, format_bytes(part.size_bytes), share, Text(note, "dim"))
        yield indented(table)
    others = [*_other_kinds(footprint, at)]
    if others:
        yield prose(f"Other steps at batch {at}: {', '.join(others)}.")


def _other_kinds(footprint: Footprint, batch_size: int) -> Iterator[str]:
    for kind in (StepKind.EVALUATE, StepKind.PREDICT):
        if kind in footprint.curves:
            told = footprint.at(batch_size, kind)
            if told.peak_bytes is not None:
                yield f"{kind} {format_bytes(told.peak_bytes)}"


def _stages(answer: Answer) -> Iterator[str]:
    for stage in answer.pipeline:
        yield _stage(stage)


def _stage(stage: Buffer) -> str:
    if isinstance(stage.size_bytes, NotMeasured):
        return f"{stage.stage}: not known, because {stage.size_bytes.why}"
    return f"{stage.stage}: {format_bytes(stage.size_bytes)}"


def _remedies(answer: Answer) -> Iterator[RenderableType]:
    asked = answer.need.batch_size if answer.need else answer.footprint.batch_size
    yield heading(f"Ways to fit batch {asked}, each measured with real steps:")
    yield Text()
    table = Table.grid(padding=(0, 2, 0, 0))
    for justify in _ALIGNED:
        table.add_column(justify=justify)
    table.add_row(*(Text(title, "dim") for title in ("", "peak", "time", "")))
    for one in answer.remedies:
        if one.peak_bytes is not None:
            table.add_row(*map(Text, _remedy(one)))
    yield indented(table)
    yield Text()
    for one in answer.remedies:
        if one.fits and one.changes:
            yield indented(prose(f"{one.name}: {one.changes}"))
    for one in answer.remedies:
        if one.peak_bytes is None:
            yield indented(prose(f"{one_line(one.name)} {one_line(one.because)}"))


def _remedy(one: Remedy) -> tuple[str, ...]:
    assert one.peak_bytes is not None
    step = "" if one.step_s is None else format_duration(one.step_s)
    return one.name, format_bytes(one.peak_bytes), step, one.because


def _next(answer: Answer) -> Iterator[RenderableType]:
    largest = answer.largest
    if isinstance(largest, LargestBatch):
        yield prose(f"Next: `batch_size={int(largest)}` in your `fit`.")
    if isinstance(answer.limit, TensorLimit) and not answer.limit.is_given:
        yield prose('For another machine or device: `--limit "8 GiB"`.')
