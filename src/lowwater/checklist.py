"""Runs the experiments one after the other, and says what they show together."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from lowwater.assignment import Assignment
from lowwater.experiments.conclusion import Conclusion, Row, conclude
from lowwater.experiments.cuts import Cuts
from lowwater.experiments.factors import FACTORS, Factor
from lowwater.experiments.facts import Facts
from lowwater.experiments.measured import Effect, Measured, compare
from lowwater.launch import launch
from lowwater.model import Diagnosis, Kind, Verdict
from lowwater.session import watch

AS_IT_IS = "as it is"
_FAILED = "experiment not made: "


@dataclass(frozen=True, slots=True)
class Program:
    """What is to be diagnosed."""

    target: str
    arguments: list[str]
    is_module: bool
    cuts: Cuts
    folder: str
    budget_s: float | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """The whole outcome: the first run, the table, and what it comes to."""

    diagnosis: Diagnosis
    rows: tuple[Row, ...]
    conclusion: Conclusion
    elapsed_s: float = 0.0


Listener = Callable[[Row], None]


def run_checklist(program: Program, on_row: Listener, on_start: Callable[[str], None]) -> Checked:
    """The run as it is, and then each factor that can apply, until the cause is certain."""
    began_s = time.monotonic()
    on_start(AS_IT_IS)
    diagnosis, base = _measure(program, None, "", None)
    first = Row(None, base, None, _says_base(base), AS_IT_IS)
    on_row(first)
    rows = [first]
    if base.leaks:
        facts = Facts.of(diagnosis.environment)
        for row in _experiments(program, base, facts, diagnosis, on_start, began_s):
            rows.append(row)
            on_row(row)
    conclusion = conclude(rows[1:], diagnosis.findings) if base.leaks else Conclusion(())
    return Checked(diagnosis, tuple(rows), conclusion, time.monotonic() - began_s)


def _experiments(
    program: Program,
    base: Measured,
    facts: Facts,
    diagnosis: Diagnosis,
    on_start: Callable[[str], None],
    began_s: float,
) -> Iterator[Row]:
    explained = 0.0
    for factor in ordered(FACTORS, diagnosis):
        why_not = factor.why_not(facts)
        left_s = None
        if program.budget_s is not None:
            left_s = program.budget_s - (time.monotonic() - began_s)
        if why_not is None and explained > 0.9:
            why_not = "not needed: the cause is known"
        if why_not is None and left_s is not None and left_s < base.elapsed_s:
            why_not = "no time left for it"
        if why_not is not None:
            yield Row(factor, None, None, why_not, factor.name)
            continue
        on_start(factor.name)
        row = _tried(program, factor, "", base)
        yield row
        if row.helps and row.difference is not None:
            explained += row.difference.share
            yield from _one_by_one(program, factor, base, facts, on_start)


def ordered(factors: Sequence[Factor], diagnosis: Diagnosis) -> list[Factor]:
    """Those that the findings of the first run speak for come first."""
    codes = [finding.code for finding in diagnosis.findings]

    def rank(factor: Factor) -> int:
        return min(
            (codes.index(code) for code in factor.codes if code in codes), default=len(codes)
        )

    return sorted(factors, key=rank)


def _one_by_one(
    program: Program,
    factor: Factor,
    base: Measured,
    facts: Facts,
    on_start: Callable[[str], None],
) -> Iterator[Row]:
    """Which of several callbacks it is."""
    names = [*facts.callbacks] if factor.key == "callbacks" else []
    for name in names if len(names) > 1 else ():
        on_start(f"without {name}")
        yield _tried(program, factor, name, base)


def _tried(program: Program, factor: Factor, detail: str, base: Measured) -> Row:
    diagnosis, measured = _measure(program, factor, detail, base)
    difference = compare(base, measured)
    name = f"without {detail}" if detail else factor.name
    says = _says(factor, measured, difference.effect, difference.share, difference.because)
    if difference.effect is Effect.STOPS and factor.key == "callbacks":
        facts = Facts.of(diagnosis.environment)
        found = [detail] if detail else [*facts.callbacks]
        says = f"stops: {', '.join(_with_line(one, facts) for one in found)}"
        if len(found) == 1 and not detail:
            measured = replace(measured, detail=found[0])
    return Row(factor, measured, difference, says, name)


def _with_line(name: str, facts: Facts) -> str:
    where = facts.callbacks.get(name)
    return f"{name} ({where})" if where else name


def _says(factor: Factor, measured: Measured, effect: Effect, share: float, because: str) -> str:
    match effect:
        case Effect.STOPS:
            return f"stops: {factor.blamed}"
        case Effect.LESS:
            return f"{round(100 * share)} % less: {factor.blamed}"
        case Effect.SAME:
            return factor.cleared
        case Effect.MORE:
            return f"grows more; {factor.cleared}"
        case Effect.FAILED:
            return f"could not be run: {because}"
    return because or measured.problem


def _says_base(base: Measured) -> str:
    if base.leaks:
        return "leaks"
    return base.problem or f"{base.kind}: nothing to find"


def _measure(
    program: Program, factor: Factor | None, detail: str, base: Measured | None
) -> tuple[Diagnosis, Measured]:
    """One run in a clean process; its output is not the program's own, and is left out."""
    key = factor.key if factor is not None else "base"
    recording = os.path.join(program.folder, f"{key}{'-' + detail if detail else ''}.lw")
    experiment = {"factor": key, "detail": detail, "cuts": asdict(program.cuts)}
    assignment = Assignment(
        program.target, program.arguments, program.is_module, recording, experiment=experiment
    )
    environment = dict(factor.environment) if factor is not None else {}
    child = launch(
        assignment,
        environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    diagnosis, outcome = watch(child, recording)
    verdict = _verdict(diagnosis, base)
    problem = next((note for note in diagnosis.notes if note.startswith(_FAILED)), "")
    if not problem and outcome.exit_code and verdict.kind is Kind.INCONCLUSIVE:
        problem = f"the program ended with exit code {outcome.exit_code}"
    measured = Measured(
        key,
        detail,
        verdict.kind,
        verdict.unit.name if verdict.unit else "",
        verdict.unit.where if verdict.unit else None,
        verdict.units_seen,
        verdict.growth_bytes_per_unit,
        verdict.interval_bytes,
        problem.removeprefix(_FAILED),
        outcome.ended.elapsed_us / 1e6,
        diagnosis.findings,
    )
    return diagnosis, measured


def _verdict(diagnosis: Diagnosis, base: Measured | None) -> Verdict:
    """That of the same unit as in the first run: growth per epoch is compared with its like."""
    if base is not None:
        for one in diagnosis.units:
            if one.unit is not None and (one.unit.name, one.unit.where) == (base.unit, base.where):
                return one
    return diagnosis.verdict
