"""Runs a program several times, one thing changed each time, and says what that shows."""

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from lowwater.assignment import Assignment
from lowwater.errors import UnreadableInput
from lowwater.experiment import Checked, Conclusion, Experiment, Measured
from lowwater.experiments.cuts import Cuts
from lowwater.experiments.factors import FACTORS, Factor
from lowwater.experiments.facts import EPOCHS_CUT, LOOP_LEFT, Facts
from lowwater.launch import launch
from lowwater.model import Diagnosis, Ending, Kind
from lowwater.recording.reader import load
from lowwater.session import diagnose, watch

AS_IT_IS = "as it is"
# An experiment may be slower than the program, eager execution above all; a hanging one is ended.
_SLOWER = 6
_STOPPED = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
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
        self._first_cuts = plan.cuts
        self._began_s = time.monotonic()
        self._done: list[Experiment] = []
        self._found = 0

    def run(self) -> Checked:
        """The program as it is, then each change that applies, until the cause is certain."""
        from lowwater.verdict.says import says_of_base

        self._listener.begins(AS_IT_IS)
        diagnosis, base = self._measure("", "", None)
        cuts = self._better_cuts(diagnosis, base)
        if cuts is not None:
            self._plan = replace(self._plan, cuts=cuts)
            diagnosis, base = self._measure("", "", None)
        self._add(Experiment(AS_IT_IS, says_of_base(base), measured=base))
        if base.grows:
            facts = Facts.of(diagnosis.environment)
            for one in self._experiments(base, facts, diagnosis):
                self._add(one)
        return self._checked(diagnosis, base)

    def _better_cuts(self, diagnosis: Diagnosis, base: Measured) -> Cuts | None:
        """For the case that too much of the program was cut away."""
        known, cuts = diagnosis.environment, self._plan.cuts
        ending = diagnosis.ending
        has_failed = ending is not None and bool(ending.exit_code or ending.signal)
        if has_failed and not base.grows and LOOP_LEFT in known:
            # Perhaps it needs all that its loops do: then they have to run to their end.
            return replace(cuts, leaves_loops=False)
        if base.kind is Kind.INCONCLUSIVE and {LOOP_LEFT, EPOCHS_CUT} & known.keys():
            return cuts.longer(diagnosis.verdict.more_units_needed or 0)
        return None

    def _checked(self, diagnosis: Diagnosis, base: Measured) -> Checked:
        from lowwater.verdict.conclude import conclude

        changed = self._done[1:]
        conclusion = conclude(changed, diagnosis.findings) if base.grows else Conclusion()
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
        from lowwater.verdict.conclude import has_failed, helps

        factors = ordered(suitable(FACTORS, base), diagnosis)
        self._listener.expects(sum(one.why_not(facts) is None for one in factors), base.elapsed_s)
        for factor in factors:
            why_not = factor.why_not(facts) or self._why_not_now(base)
            if why_not is not None:
                yield _left_out(factor, why_not)
                continue
            tried = self._tried(factor, "", base, facts)
            yield tried
            if has_failed(tried) and factor.instead is not None:
                factor = factor.instead  # noqa: PLW2901 - the same question, asked more gently
                tried = self._tried(factor, "", base, facts)
                yield tried
            if helps(tried):
                yield from self._one_by_one(factor, base, facts)

    def _why_not_now(self, base: Measured) -> str | None:
        from lowwater.verdict.conclude import is_explained

        if not self._plan.runs_all and is_explained(self._done):
            return "not needed"
        return self._why_no_time(base)

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
        return "no time left (--budget)" if left_s < base.elapsed_s else None

    def _tried(self, factor: Factor, detail: str, base: Measured, facts: Facts) -> Experiment:
        from lowwater.verdict.compare import compare
        from lowwater.verdict.says import says

        name = f"without {detail}" if detail else factor.name
        self._listener.begins(name)
        _, measured = self._measure(factor.key, detail, base, factor.environment)
        difference = compare(base, measured)
        parts = factor.parts(facts)
        only = next(iter(parts.values())) if len(parts) == 1 else ""
        blamed = parts.get(detail) or only or factor.blamed
        return Experiment(
            name,
            says(f"not {blamed}" if detail else factor.cleared, blamed, difference),
            factor.key,
            detail,
            measured,
            difference,
            blamed,
            factor.codes,
            factor.covers,
            factor.rejects,
        )

    def _measure(
        self,
        key: str,
        detail: str,
        base: Measured | None,
        environment: Mapping[str, str] | None = None,
    ) -> tuple[Diagnosis, Measured]:
        from lowwater.verdict.measure import measured_in

        recording = os.path.join(self._plan.recordings, f"{self._file_name(key, detail)}.lw")
        diagnosis = _finished(recording)
        self._found += diagnosis is not None
        if diagnosis is None:
            diagnosis = self._run(key, detail, recording, base, environment)
        return diagnosis, measured_in(diagnosis, base)

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
            cwd=plan.working_folder(self._file_name(key, detail)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        longest_s = None if base is None else max(_LEAST_TIME_S, _SLOWER * base.elapsed_s)
        with _ended_after(child, longest_s):
            diagnosis, _ = watch(child, recording)
        if _was_stopped(diagnosis.ending):
            # The supervisor gives the user's Ctrl-C to the program; it is meant for all of them.
            raise KeyboardInterrupt
        return diagnosis

    def _file_name(self, key: str, detail: str) -> str:
        cuts = self._plan.cuts
        name = f"{key or 'base'} {detail}" + ("" if cuts == self._first_cuts else f" {cuts.rounds}")
        plain = "".join(letter if letter.isalnum() else "-" for letter in name.strip())
        return re.sub("-+", "-", plain)


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


def suitable(factors: Sequence[Factor], base: Measured) -> Sequence[Factor]:
    """Where nothing leaks and the heap is full of holes, only the heap is in question."""
    if base.leaks:
        return factors
    return [factor for factor in factors if factor.is_about_holes]


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
    if timeline.ending is None or _was_stopped(timeline.ending):
        return None
    return diagnose(timeline)


def _was_stopped(ending: Ending | None) -> bool:
    """Whether somebody did not want to wait for the end."""
    return ending is not None and ending.signal in _STOPPED


def _left_out(factor: Factor, why: str) -> Experiment:
    return Experiment(factor.name, why, factor.key, codes=factor.codes)
