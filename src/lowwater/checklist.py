"""Runs a program several times, one thing changed each time, and says what that shows."""

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from lowwater.assignment import Assignment
from lowwater.errors import UnreadableInput
from lowwater.experiment import Checked, Conclusion, Difference, Effect, Experiment, Measured
from lowwater.experiments.cuts import Cuts
from lowwater.experiments.factors import FACTORS, Factor
from lowwater.experiments.facts import Facts
from lowwater.launch import launch
from lowwater.model import Diagnosis, Ending, Kind, Verdict
from lowwater.recording.reader import load
from lowwater.session import diagnose, watch

AS_IT_IS = "as it is"
_NOT_MADE = "experiment not made: "
# An experiment may be slower than the program, eager execution above all; a hanging one is ended.
_SLOWER = 6
_LEAST_TIME_S = 60


@dataclass(frozen=True, slots=True)
class Plan:
    """What is run, how much of it, and where the recordings are kept.

    `working_folder` gives each experiment the folder that it runs in; None is the present one.
    """

    target: str
    arguments: list[str]
    is_module: bool
    cuts: Cuts
    recordings: str
    budget_s: float | None = None
    runs_all: bool = False
    working_folder: Callable[[str], str | None] = field(default=lambda _: None)


@dataclass(frozen=True, slots=True)
class Listener:
    """Who is told how far it has come."""

    begins: Callable[[str], None]
    expects: Callable[[int, float], None]
    done: Callable[[Experiment], None]


class Checklist:
    """The experiments on one program."""

    def __init__(self, plan: Plan, listener: Listener) -> None:
        """Nothing is run yet."""
        self._plan = plan
        self._listener = listener
        self._began_s = time.monotonic()
        self._done: list[Experiment] = []
        self._found = 0

    def run(self) -> Checked:
        """The program as it is, then each change that applies, until the cause is certain."""
        self._listener.begins(AS_IT_IS)
        diagnosis, base = self._measure("", "", None)
        self._add(Experiment(AS_IT_IS, _says_base(base), measured=base))
        if base.leaks:
            facts = Facts.of(diagnosis.environment)
            for one in self._experiments(base, facts, diagnosis):
                self._add(one)
        return self._checked(diagnosis, base)

    def _checked(self, diagnosis: Diagnosis, base: Measured) -> Checked:
        from lowwater.verdict.conclude import conclude

        changed = self._done[1:]
        conclusion = conclude(changed, diagnosis.findings) if base.leaks else Conclusion()
        elapsed_s = time.monotonic() - self._began_s
        notes = (f"{self._found} of them in an earlier diagnosis (--fresh runs all again)",)
        return Checked(
            diagnosis, tuple(self._done), conclusion, elapsed_s, notes if self._found else ()
        )

    def _add(self, one: Experiment) -> None:
        self._done.append(one)
        self._listener.done(one)

    def _experiments(
        self, base: Measured, facts: Facts, diagnosis: Diagnosis
    ) -> Iterator[Experiment]:
        from lowwater.verdict.conclude import helps

        factors = ordered(FACTORS, diagnosis)
        self._listener.expects(sum(one.why_not(facts) is None for one in factors), base.elapsed_s)
        for factor in factors:
            why_not = factor.why_not(facts) or self._why_not_now(base)
            if why_not is not None:
                yield _left_out(factor, why_not)
                continue
            tried = self._tried(factor, "", base, facts)
            yield tried
            if helps(tried):
                yield from self._one_by_one(factor, base, facts)

    def _why_not_now(self, base: Measured) -> str | None:
        from lowwater.verdict.conclude import is_explained

        if not self._plan.runs_all and is_explained(self._done):
            return "not needed"
        if self._plan.budget_s is not None:
            left_s = self._plan.budget_s - (time.monotonic() - self._began_s)
            if left_s < base.elapsed_s:
                return "no time left (--budget)"
        return None

    def _one_by_one(self, factor: Factor, base: Measured, facts: Facts) -> Iterator[Experiment]:
        """Which part of it; one part alone needs no experiment of its own."""
        parts = factor.parts(facts)
        for detail in parts if len(parts) > 1 else ():
            if self._why_no_time(base) is None:
                yield self._tried(factor, detail, base, facts)

    def _why_no_time(self, base: Measured) -> str | None:
        if self._plan.budget_s is None:
            return None
        left_s = self._plan.budget_s - (time.monotonic() - self._began_s)
        return "no time left" if left_s < base.elapsed_s else None

    def _tried(self, factor: Factor, detail: str, base: Measured, facts: Facts) -> Experiment:
        from lowwater.verdict.compare import compare

        name = f"without {detail}" if detail else factor.name
        self._listener.begins(name)
        _, measured = self._measure(factor.key, detail, base, factor.environment)
        difference = compare(base, measured)
        parts = factor.parts(facts)
        only = next(iter(parts.values())) if len(parts) == 1 else ""
        blamed = parts.get(detail) or only or factor.blamed
        return Experiment(
            name,
            _says(factor, blamed, difference),
            factor.key,
            detail,
            measured,
            difference,
            blamed,
            factor.codes,
        )

    def _measure(
        self,
        key: str,
        detail: str,
        base: Measured | None,
        environment: Mapping[str, str] | None = None,
    ) -> tuple[Diagnosis, Measured]:
        recording = os.path.join(self._plan.recordings, f"{_file_name(key, detail)}.lw")
        diagnosis = _finished(recording)
        self._found += diagnosis is not None
        if diagnosis is None:
            diagnosis = self._run(key, detail, recording, base, environment)
        return diagnosis, _measured(diagnosis, base)

    def _run(
        self,
        key: str,
        detail: str,
        recording: str,
        base: Measured | None,
        environment: Mapping[str, str] | None,
    ) -> Diagnosis:
        """In a clean process; what the program writes is left out, it would come many times."""
        experiment = {"factor": key, "detail": detail, "cuts": asdict(self._plan.cuts)}
        plan = self._plan
        assignment = Assignment(
            plan.target, plan.arguments, plan.is_module, recording, experiment=experiment
        )
        child = launch(
            assignment,
            environment,
            cwd=plan.working_folder(_file_name(key, detail)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        longest_s = None if base is None else max(_LEAST_TIME_S, _SLOWER * base.elapsed_s)
        with _ended_after(child, longest_s):
            diagnosis, _ = watch(child, recording)
        return diagnosis


class _ended_after:  # noqa: N801 - reads as a word of the language
    """Kills a process that takes too long; what was seen until then is judged."""

    def __init__(self, child: "subprocess.Popen[bytes]", seconds: float | None) -> None:
        self._timer = threading.Timer(seconds, child.kill) if seconds is not None else None

    def __enter__(self) -> None:
        if self._timer is not None:
            self._timer.start()

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()


def ordered(factors: Sequence[Factor], diagnosis: Diagnosis) -> list[Factor]:
    """Those that the findings of the first run speak for come first."""
    codes = [finding.code for finding in diagnosis.findings]

    def rank(factor: Factor) -> int:
        known = [codes.index(code) for code in factor.codes if code in codes]
        return min(known, default=len(codes))

    return sorted(factors, key=rank)


def _finished(recording: str) -> Diagnosis | None:
    """What an earlier diagnosis has recorded to the end."""
    if not os.path.exists(recording):
        return None
    try:
        timeline = load(recording)
    except UnreadableInput:
        return None
    return diagnose(timeline) if timeline.ending is not None else None


def _measured(diagnosis: Diagnosis, base: Measured | None) -> Measured:
    verdict = _verdict(diagnosis, base)
    ending = diagnosis.ending
    return Measured(
        verdict.kind,
        verdict.unit.name if verdict.unit else "",
        verdict.unit.where if verdict.unit else None,
        verdict.units_seen,
        verdict.growth_bytes_per_unit,
        verdict.interval_bytes,
        _problem(diagnosis, verdict, ending),
        ending.elapsed_s if ending is not None else 0.0,
    )


def _verdict(diagnosis: Diagnosis, base: Measured | None) -> Verdict:
    """That of the same unit as in the first run: growth per epoch is compared with its like."""
    if base is not None:
        for one in diagnosis.units:
            if one.unit is not None and (one.unit.name, one.unit.where) == (base.unit, base.where):
                return one
        return Verdict(Kind.INCONCLUSIVE, f"no {base.unit} was seen")
    return diagnosis.verdict


def _problem(diagnosis: Diagnosis, verdict: Verdict, ending: Ending | None) -> str:
    not_made = next((note for note in diagnosis.notes if note.startswith(_NOT_MADE)), None)
    if not_made is not None:
        return not_made.removeprefix(_NOT_MADE)
    if verdict.is_leak is not None or ending is None:
        return ""
    if ending.signal is not None:
        return f"it was ended by signal {ending.signal}"
    return f"it ended with exit code {ending.exit_code}" if ending.exit_code else ""


def _left_out(factor: Factor, why: str) -> Experiment:
    return Experiment(factor.name, why, factor.key, codes=factor.codes)


def _says_base(base: Measured) -> str:
    if base.leaks:
        return "leaks"
    return base.problem or (
        "too few rounds to tell" if base.kind is Kind.INCONCLUSIVE else f"{base.kind}: no leak"
    )


def _says(factor: Factor, blamed: str, difference: Difference) -> str:
    match difference.effect:
        case Effect.STOPS:
            return f"stops: {blamed}"
        case Effect.LESS:
            return f"{round(100 * difference.share)} % less: {blamed}"
        case Effect.SAME:
            return factor.cleared
        case Effect.MORE:
            return f"grows more: {factor.cleared}"
        case Effect.FAILED:
            return f"cannot be run like this: {difference.because}"
    return difference.because


def _file_name(key: str, detail: str) -> str:
    plain = "".join(letter if letter.isalnum() else "-" for letter in f"{key or 'base'} {detail}")
    return plain.strip("-")
