"""The sections of the final screen, drawn with rich; imported only when there is one to draw."""

import io
from collections.abc import Iterable, Iterator
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from lowwater.model import Diagnosis, Kind, Ledger, Overhead, Verdict
from lowwater.model.gauges import FUNCTIONS, GRADIENTS
from lowwater.model.printable import one_line
from lowwater.model.units import format_bytes, format_duration, format_growth
from lowwater.report._autopsy import told_autopsy
from lowwater.report._findings import told_findings
from lowwater.report._guard import told_guard
from lowwater.report._ledger_table import ledger_table, summary_table
from lowwater.report._next_steps import next_steps
from lowwater.report._prose import heading, prose, section
from lowwater.report._step import NextStep
from lowwater.report._why import told_questions
from lowwater.report._words import (
    COUNT_NAMES,
    counted,
    ending_sentence,
    error_sentence,
    memory_of,
    seen,
    sentence,
    unit_of,
)
from lowwater.report.screen import Screen

_LABELS: Final = {True: "LEAK", False: "NO LEAK", None: "NOT SURE"}
_STYLES: Final = {Kind.LEAK: "bold red", Kind.FLAT: "bold green"}
_OTHER_STYLE: Final = "bold yellow"
_MEANINGS: Final = {
    Kind.CACHE: "fills up, then stops growing",
    Kind.RESERVED: "the allocator keeps freed memory for reuse",
    Kind.FRAGMENTED: "freed memory is stuck between blocks in use",
    Kind.WARM_UP: "one early jump",
    Kind.SAWTOOTH: "rises, then falls back to where it was",
    Kind.TRICKLE: "grows, but too little so far to call it a leak",
    Kind.FLAT: "memory in use stays level",
}
_MOST_OTHER_UNITS: Final = 4
_UNITS_AHEAD: Final = 100
_SAME: Final = 0.25


def draw(diagnosis: Diagnosis, *, width: int, colour: bool, verbose: bool, why: bool) -> str:
    """All sections that have something to say, with an empty line between them."""
    drawn = io.StringIO()
    console = Screen.drawing(drawn, width, colour=colour)
    if _is_plain(diagnosis) and not verbose:
        _draw_plain(diagnosis, width, console, why=why)
    else:
        for part in _sections(diagnosis, width, verbose=verbose, why=why):
            console.print(part)
            console.print()
        _print_steps(console, next_steps(diagnosis))
    return "".join(f"{line.rstrip()}\n" for line in drawn.getvalue().splitlines())


def _is_plain(diagnosis: Diagnosis) -> bool:
    """Whether all is well, and nothing happened that a reader should know."""
    ending = diagnosis.ending
    news = (diagnosis.findings, diagnosis.notes, diagnosis.mended, diagnosis.guarded)
    is_quiet = not any(news)
    has_ended_well = ending is not None and ending_sentence(ending) is None
    return diagnosis.verdict.kind is Kind.FLAT and is_quiet and has_ended_well


def _draw_plain(diagnosis: Diagnosis, width: int, console: Console, *, why: bool) -> None:
    """Ten lines: who has no leak wants to get on."""
    for part in _answer(diagnosis, width, why=why):
        console.print(part)
        console.print()
    for part in (*_summary(diagnosis, width), *_overhead(diagnosis, verbose=False)):
        console.print(part)


def _answer(diagnosis: Diagnosis, width: int, *, why: bool) -> Iterator[RenderableType]:
    yield _headline(diagnosis, width)
    yield _reason(diagnosis.verdict)
    if why:
        yield from told_questions(diagnosis)


def _sections(
    diagnosis: Diagnosis, width: int, *, verbose: bool, why: bool
) -> Iterator[RenderableType]:
    # Without a leak, what happened is that memory ran out: the verdict only says why it is none.
    ran_out_first = diagnosis.verdict.is_leak is not True
    if ran_out_first:
        yield from told_autopsy(diagnosis, width, why=why)
    yield from _answer(diagnosis, width, why=why)
    yield from told_guard(diagnosis)
    yield from told_findings(diagnosis, width, verbose=verbose)
    yield from _details(diagnosis, width) if verbose else _summary(diagnosis, width)
    if diagnosis.mended:
        yield section("Library repairs", (prose(str(mending)) for mending in diagnosis.mended))
    if diagnosis.notes:
        notes = dict.fromkeys(map(sentence, diagnosis.notes))
        yield section("Notes", map(prose, notes))
    yield from _ending(diagnosis)
    if not ran_out_first:
        yield from told_autopsy(diagnosis, width, why=why)
    yield from _overhead(diagnosis, verbose=verbose)


def _summary(diagnosis: Diagnosis, width: int) -> Iterator[RenderableType]:
    if diagnosis.ledger.summary:
        is_leak = diagnosis.verdict.kind is Kind.LEAK
        yield summary_table(diagnosis.ledger.summary, width, is_leak=is_leak)


def _details(diagnosis: Diagnosis, width: int) -> Iterator[RenderableType]:
    if others := _informative(diagnosis):
        yield section("Also judged", _other_units(others, diagnosis.verdict))
    if diagnosis.ledger.rows:
        is_leak = diagnosis.verdict.kind is Kind.LEAK
        table = ledger_table(diagnosis.ledger.rows, width, is_leak=is_leak)
        yield Group(heading("Where the memory is"), table)
    if counts := tuple(_changed_counts(diagnosis)):
        yield section("What else changed", counts)
    if diagnosis.ledger.unmeasured:
        yield section("Not measured", _unmeasured(diagnosis.ledger))


def _headline(diagnosis: Diagnosis, width: int) -> RenderableType:
    verdict = diagnosis.verdict
    said = "SLOW LEAK" if verdict.is_slow else _LABELS[verdict.is_leak]
    label = Text(f"{said}  ", _STYLES.get(verdict.kind, _OTHER_STYLE))
    claim, context = Text(one_line(_claim(diagnosis)), "bold"), Text(one_line(_context(verdict)))
    fits = label.cell_len + claim.cell_len + 1 + context.cell_len <= width
    line = Table.grid()
    line.add_column(no_wrap=True)
    line.add_row(label, Text(" " if fits else "\n").join([claim, context]))
    return line


def _claim(diagnosis: Diagnosis) -> str:
    verdict = diagnosis.verdict
    if verdict.kind is Kind.LEAK:
        growth = verdict.growth_bytes_per_unit
        much = "memory grows with every" if growth is None else f"{format_growth(growth)} per"
        return f"{much} {unit_of(verdict)}"
    if verdict.kind is not Kind.INCONCLUSIVE:
        return f"{verdict.kind}: {_MEANINGS[verdict.kind]}"
    if diagnosis.ending is not None and diagnosis.ending.is_broken_off:
        return f"{verdict.kind}: the program ended too early to judge"
    if not verdict.more_units_needed:
        return f"{verdict.kind}: this run is not enough to judge"
    more = counted(verdict.more_units_needed, f"more {unit_of(verdict).name}")
    return f"{verdict.kind}: needs about {more} to judge"


def _context(verdict: Verdict) -> str:
    memory, where = memory_of(verdict.place), unit_of(verdict).where
    if verdict.kind is Kind.LEAK:
        return f"({memory} in use, {seen(verdict)})"
    return f"({memory}, {seen(verdict)}{f' at {where}' if where else ''})"


def _reason(verdict: Verdict) -> RenderableType:
    told = [sentence(verdict.because)]
    if verdict.kind is Kind.LEAK:
        told += _consequences(verdict)
    return prose(" ".join(told))


def _consequences(verdict: Verdict) -> Iterator[str]:
    name = unit_of(verdict).name
    if verdict.growth_bytes_per_unit:
        ahead = format_bytes(verdict.growth_bytes_per_unit * _UNITS_AHEAD)
        yield f"At this rate, {counted(_UNITS_AHEAD, f'more {name}')} will use another {ahead}."


def _informative(diagnosis: Diagnosis) -> list[Verdict]:
    """The other verdicts that say something new, leaks first."""
    lead = diagnosis.verdict
    news = [
        verdict
        for verdict in diagnosis.units
        if (verdict.unit, verdict.place) != (lead.unit, lead.place)
        and verdict.kind is not Kind.INCONCLUSIVE
        and (verdict.kind is Kind.LEAK or verdict.kind is not lead.kind)
    ]
    return sorted(news, key=lambda verdict: verdict.kind is not Kind.LEAK)


def _other_units(others: list[Verdict], lead: Verdict) -> Iterator[RenderableType]:
    same = [one for one in others if _is_same_growth(one, lead)]
    others = [one for one in others if one not in same]
    if same:
        units = ", ".join(f"per {unit_of(one)}" for one in same[:_MOST_OTHER_UNITS])
        yield prose(f"The same growth was also measured {units}.")
    if not others:
        return
    lines = Table.grid(padding=(0, 2, 0, 0))
    for verdict in others[:_MOST_OTHER_UNITS]:
        style = _STYLES.get(verdict.kind, _OTHER_STYLE)
        lines.add_row(Text(verdict.kind, style), _other_unit(verdict, lead))
    yield lines
    left_out = len(others) - _MOST_OTHER_UNITS
    if left_out > 0:
        yield Text(f"and {left_out} more; --json lists them all", "dim")


def _is_same_growth(verdict: Verdict, lead: Verdict) -> bool:
    """Whether both tell of the same bytes, counted in other rounds."""
    if verdict.kind is not Kind.LEAK or lead.kind is not Kind.LEAK or verdict.place != lead.place:
        return False
    total = (verdict.growth_bytes_per_unit or 0) * verdict.units_seen
    lead_total = (lead.growth_bytes_per_unit or 0) * lead.units_seen
    return abs(total - lead_total) <= _SAME * lead_total


def _other_unit(verdict: Verdict, lead: Verdict) -> Text:
    growth = verdict.growth_bytes_per_unit
    is_leak = verdict.kind is Kind.LEAK and growth is not None
    much = f"{format_growth(growth or 0)} per " if is_leak else ""
    place = "" if verdict.place == lead.place else f"{memory_of(verdict.place)}, "
    return prose(f"{much}{unit_of(verdict)} ({place}{verdict.units_seen:,} seen)")


def _changed_counts(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    # Functions are registered for many a reason: where the cause is another, they only worry.
    is_about_graphs = any(finding.code.startswith("LW2") for finding in diagnosis.findings)
    for name, (first, last) in diagnosis.ledger.counts.items():
        is_worry = name in (FUNCTIONS, GRADIENTS) and diagnosis.findings and not is_about_graphs
        if first != last and not is_worry:
            yield prose(f"{COUNT_NAMES.get(name, name)}: {first:,} → {last:,}")


def _unmeasured(ledger: Ledger) -> Iterator[RenderableType]:
    for source, why in ledger.unmeasured.items():
        yield prose(f"{source}: {why}")


def _ending(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    ending = diagnosis.ending
    if ending is None or (told := ending_sentence(ending)) is None:
        return
    until = "The verdict covers the run up to that point."
    guarded = diagnosis.guarded
    # The exception of the guard has its own section, and what an autopsy says is not said twice.
    has_its_own = guarded is not None and guarded.is_raised
    is_told = diagnosis.autopsy is not None and diagnosis.autopsy.request is not None
    error = None if has_its_own or is_told else error_sentence(ending)
    said = (error, told, until)
    yield section("How it ended", [prose(line) for line in said if line is not None])


def _overhead(diagnosis: Diagnosis, *, verbose: bool) -> Iterator[RenderableType]:
    """Our own cost, as the program felt it, and where to find more."""
    cost, ending = diagnosis.overhead, diagnosis.ending
    if cost is None or ending is None:
        return
    took, of = format_duration(cost.sampling_s), format_duration(ending.elapsed_s)
    if verbose or not cost.collections:
        looking = f"; {_cost_of_looking(cost)}" if cost.collections else ""
        told = f"{took} sampling in {of}{looking}"
    else:
        told = _cost_in_all(cost, of)
    more = "" if verbose else " For more details, add -v."
    yield Text(f"Overhead: {told}.{more}", "dim")


def _cost_in_all(cost: Overhead, of: str) -> str:
    total_s = cost.sampling_s + cost.collecting_s + cost.census_s
    share = f" ({100 * total_s / cost.process_s:.0f} % of CPU time)" if cost.process_s else ""
    return f"{format_duration(total_s)} in {of}{share}"


def _cost_of_looking(cost: Overhead) -> str:
    """What a flat run never pays."""
    told = _counted_cost(cost.collections, "garbage collection", cost.collecting_s)
    if cost.censuses:
        told += f" and {_counted_cost(cost.censuses, 'heap scan', cost.census_s)}"
    told += " to find the cause"
    if cost.process_s:
        share = 100 * (cost.collecting_s + cost.census_s) / cost.process_s
        told += f", {share:.0f} % of the run's processor time"
    return told


def _counted_cost(count: int, name: str, took_s: float) -> str:
    return f"{counted(count, name)} ({format_duration(took_s)})"


def _print_steps(console: Console, steps: Iterable[NextStep]) -> None:
    console.print(heading("What to do next"))
    for number, step in enumerate(steps, start=1):
        line = Table.grid()
        line.add_row(Text(f"  {number}. "), prose(step.text))
        console.print(line)
        if step.command is not None:
            # Never wrapped: it is there to be copied.
            console.print(Text(f"       {step.command}", "cyan"), soft_wrap=True)
