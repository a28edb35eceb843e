"""The table of experiments, and what it comes to."""

import io
import textwrap
from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from lowwater.diagnose.measure import how_it_failed
from lowwater.model import Diagnosis, Finding, Kind, Unit
from lowwater.model.autopsy_text import lines
from lowwater.model.experiment import (
    NOT_NEEDED,
    Conclusion,
    Effect,
    Experiment,
    Experiments,
    Measured,
    State,
)
from lowwater.model.printable import one_line, printable
from lowwater.model.units import format_duration, format_growth, format_interval
from lowwater.report.screen import Screen
from lowwater.verdict import words

_THE_REST = "The rest of the program was skipped; `lowwater run` watches all of it."
_STATES = {
    State.CONFIRMED: "Confirmed by experiment",
    State.REJECTED: "Rejected by experiment",
    State.UNTESTED: "Not tested by experiment",
}


def render(diagnosis: Diagnosis, *, width: int = 100, colour: bool = False) -> str:
    """The whole outcome as text."""
    experiments = diagnosis.experiments or Experiments()
    drawn = io.StringIO()
    console = Screen.drawing(drawn, width, colour=colour)
    console.print(_table(experiments))
    for paragraph in _paragraphs(diagnosis, experiments):
        console.print()
        for part in paragraph:
            is_drawn = diagnosis.autopsy is not None and len(part) <= width
            wrapped = textwrap.wrap(printable(part), width, subsequent_indent="  ") or [""]
            for line in [printable(part)] if is_drawn else wrapped:
                console.print(line)
    return "".join(f"{line.rstrip()}\n" for line in drawn.getvalue().splitlines())


def _table(experiments: Experiments) -> Table:
    unit = one_line(words.one(Unit(0, experiments.base.unit or "round")))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("experiment", no_wrap=True)
    table.add_column(f"growth per {unit}", no_wrap=True)
    table.add_column("result")
    shown = [one for one in experiments.rows if one.says != NOT_NEEDED]
    for one in shown:
        table.add_row(one_line(one.name), growth(one.measured), says(one))
    others = len(experiments.rows) - len(shown)
    if others:
        name = "1 other" if others == 1 else f"{others} others"
        table.add_row(name, growth(None), f"{NOT_NEEDED} (--all runs them)")
    return table


def growth(measured: Measured | None) -> str:
    """`+4.0 MiB (3.9 … 4.1)`, or a dash where nothing was measured."""
    if measured is None or measured.growth_bytes is None:
        return "—"
    told = format_growth(measured.growth_bytes)
    if measured.interval_bytes is None:
        return told
    return f"{told} ({format_interval(*measured.interval_bytes, measured.growth_bytes)})"


def says(one: Experiment) -> Text:
    """What stands in the last column; a change that helps stands out."""
    found = one.difference
    stands_out = found is not None and found.effect in {Effect.STOPS, Effect.LESS}
    return Text(one_line(one.says), "bold" if stands_out else "")


def _paragraphs(diagnosis: Diagnosis, experiments: Experiments) -> list[list[str]]:
    if not experiments.base.grows and diagnosis.autopsy is not None and experiments.base.fails:
        return [lines(diagnosis.autopsy)]
    if not experiments.base.grows:
        # What explains that memory rose all the same.
        also = [[*_told(finding)] for finding in diagnosis.findings]
        return [[_nothing_to_find(diagnosis, experiments)], *also]
    conclusion = diagnosis.conclusion or Conclusion()
    told = [[*conclusion.sentences]] if conclusion.sentences else []
    told += [[*_told(finding, state)] for finding, state in conclusion.states]
    runs = sum(one.measured is not None for one in experiments.rows)
    took = format_duration(experiments.elapsed_s)
    made = f"{runs} {'run' if runs == 1 else 'runs'} in {took}"
    told.append([f"{', '.join((made, *experiments.notes))}."])
    return told


def _told(finding: Finding, state: State | None = None) -> Iterator[str]:
    where = f"   {finding.where}" if finding.where else ""
    yield f"{finding.code} {finding.name}{where}"
    yield f"  {finding.message}"
    if state is not None:
        yield f"  {_STATES[state]}."
    if state in (State.CONFIRMED, State.UNTESTED):
        yield f"  Fix: {finding.fix}"
    yield f"  More: lowwater explain {finding.code}"


def _nothing_to_find(diagnosis: Diagnosis, experiments: Experiments) -> str:
    verdict, base = diagnosis.verdict, experiments.base
    failed = how_it_failed(diagnosis.ending) if diagnosis.ending is not None else ""
    if base.problem:
        return f"No diagnosis: {'the program fails: ' if base.fails else ''}{base.problem}."
    also = f" The program also failed: {failed}." if failed else ""
    if verdict.kind is Kind.INCONCLUSIVE:
        more = verdict.more_units_needed
        advice = f" Raise --epochs or --rounds to run {more} more rounds." if more else ""
        return f"This run does not show whether there is a leak: {verdict.because}.{advice}{also}"
    because = f"{verdict.because[:1].upper()}{verdict.because[1:]}"
    if experiments.is_cut:
        seen = f"No leak found in {base.rounds} rounds"
        return f"{seen}. {because}.{also} {_THE_REST}"
    return f"No leak found. {because}.{also}"
