"""Runs a program several times, one thing changed each time, and says what that shows."""

import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import msgspec

from lowwater.errors import UserError
from lowwater.experiment import Conclusion, Experiment, Experiments, Measured
from lowwater.experiments.cuts import Cuts
from lowwater.experiments.factors import FACTORS, Factor
from lowwater.experiments.facts import EPOCHS_CUT, LOOP_LEFT, Facts
from lowwater.model import Diagnosis, Finding, Kind
from lowwater.recording.records import Experimented
from lowwater.recording.writer import append_after_end
from lowwater.rerun import Order, Ran, Reruns
from lowwater.verdict.measure import ENDED_BY_US

AS_IT_IS = "as it is"
# An experiment may be slower than the program, eager execution above all; a hanging one is ended.
_SLOWER = 6
_LEAST_TIME_S = 60
_NO_TIME = "no time left (--budget)"


class Listener(Protocol):
    """Who is told how far it has come."""

    def begins(self, name: str) -> None:
        """A run is about to start."""

    def expects(self, base: Experiment, runs: int) -> None:
        """The program as it is grows, so that many more runs follow at most."""

    def done(self, one: Experiment) -> None:
        """A line of the table is complete."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The first run with all experiments beside it, and where that run was recorded.

    `last_lines` is what it has written at its end, if it failed before anything could be told.
    """

    diagnosis: Diagnosis
    recording: str
    last_lines: tuple[str, ...] = ()

    @property
    def has_failed(self) -> bool:
        """Whether the program cannot be diagnosed because it fails."""
        experiments = self.diagnosis.experiments
        problem = "" if experiments is None else experiments.base.problem
        return bool(problem) and not problem.startswith(ENDED_BY_US)

    @property
    def exit_code(self) -> int:
        """That of the program, or 128 + the signal that ended it, as shells have it."""
        ending = self.diagnosis.ending
        if ending is None:
            return 0
        return ending.exit_code or 128 + (ending.signal or 0)


def keep(checked: Checked, path: str) -> None:
    """Write the outcome as a recording: that of the first run, and the experiments behind it."""
    try:
        shutil.copyfile(checked.recording, path)
    except OSError as error:
        msg = f"cannot write {path}"
        raise UserError(msg, received=error.strerror or str(error)) from error
    experiments = checked.diagnosis.experiments or Experiments()
    problem = append_after_end(path, [Experimented(msgspec.to_builtins(experiments))])
    if problem is not None:
        raise UserError(problem, received=path)


class Checklist:
    """The experiments on one program."""

    def __init__(
        self, reruns: Reruns, cuts: Cuts, listener: Listener, *, runs_all: bool = False
    ) -> None:
        """Nothing is run yet; with `runs_all` also what is not needed for the conclusion."""
        self._reruns = reruns
        self._cuts = cuts
        self._listener = listener
        self._runs_all = runs_all
        self._began_s = time.monotonic()
        self._done: list[Experiment] = []
        self._earlier = 0

    def run(self) -> Checked:
        """The program as it is, then each change that applies, until the cause is certain."""
        from lowwater.verdict.says import says_of_base

        self._listener.begins(AS_IT_IS)
        ran, base = self._measure(Order(self._cuts), None)
        cuts = self._better_cuts(ran.diagnosis, base)
        if cuts is not None:
            self._cuts = cuts
            ran, base = self._measure(Order(cuts), None)
        self._add(Experiment(AS_IT_IS, says_of_base(base), measured=base))
        if base.grows:
            for one in self._experiments(base, ran.diagnosis):
                self._add(one)
        lines = ran.last_lines if base.problem else ()
        return Checked(self._with_experiments(ran.diagnosis, base), ran.recording, lines)

    def _better_cuts(self, diagnosis: Diagnosis, base: Measured) -> Cuts | None:
        """For the case that too much of the program was cut away."""
        known, cuts = diagnosis.environment, self._cuts
        ending = diagnosis.ending
        has_failed = ending is not None and bool(ending.exit_code or ending.signal)
        if has_failed and not base.grows and LOOP_LEFT in known:
            # Perhaps it needs all that its loops do: then they have to run to their end.
            return replace(cuts, leaves_loops=False)
        if base.kind is Kind.INCONCLUSIVE and {LOOP_LEFT, EPOCHS_CUT} & known.keys():
            return cuts.longer(diagnosis.verdict.more_units_needed or 0)
        return None

    def _with_experiments(self, diagnosis: Diagnosis, base: Measured) -> Diagnosis:
        from lowwater.verdict.conclude import conclude

        rows = tuple(self._done)
        conclusion = conclude(rows[1:], diagnosis.findings) if base.grows else Conclusion()
        notes = (f"{self._earlier} of them in an earlier diagnosis (--fresh runs all again)",)
        experiments = Experiments(
            rows, time.monotonic() - self._began_s, notes if self._earlier else ()
        )
        return replace(diagnosis, experiments=experiments, conclusion=conclusion)

    def _add(self, one: Experiment) -> None:
        self._done.append(one)
        self._listener.done(one)

    def _experiments(self, base: Measured, diagnosis: Diagnosis) -> Iterator[Experiment]:
        from lowwater.verdict.conclude import helps

        facts = Facts.of(diagnosis.environment, diagnosis.findings)
        factors = ordered(suitable(FACTORS, base), diagnosis)
        self._listener.expects(self._done[0], sum(one.why_not(facts) is None for one in factors))
        for factor in factors:
            why_not = factor.why_not(facts) or self._why_not_now(factor, base, diagnosis.findings)
            if why_not is not None:
                yield _left_out(factor, why_not)
                continue
            for tried in self._gently(factor, "", base, facts):
                yield tried
                is_helped = helps(tried)
            if is_helped:
                yield from self._one_by_one(factor, base, facts)

    def _gently(
        self, factor: Factor, detail: str, base: Measured, facts: Facts
    ) -> Iterator[Experiment]:
        """The change; where the program cannot be run with it, the one in its place."""
        from lowwater.verdict.conclude import has_failed

        tried = self._tried(factor, detail, base, facts)
        yield tried
        if has_failed(tried) and factor.instead is not None:
            yield self._tried(factor.instead, detail, base, facts)

    def _why_not_now(
        self, factor: Factor, base: Measured, findings: Sequence[Finding]
    ) -> str | None:
        from lowwater.verdict.conclude import is_explained, still_leaks

        is_open = still_leaks(self._done) and any(one.code in factor.codes for one in findings)
        if not self._runs_all and is_explained(self._done) and not is_open:
            return "not needed"
        return self._why_no_time(base)

    def _why_no_time(self, base: Measured) -> str | None:
        return _NO_TIME if self._reruns.left_s < base.elapsed_s else None

    def _one_by_one(self, factor: Factor, base: Measured, facts: Facts) -> Iterator[Experiment]:
        """Which part of it; one part alone needs no experiment of its own."""
        parts = factor.parts(facts)
        for detail in parts if len(parts) > 1 else ():
            if self._why_no_time(base) is None:
                yield from self._gently(factor, detail, base, facts)

    def _tried(self, factor: Factor, detail: str, base: Measured, facts: Facts) -> Experiment:
        from lowwater.verdict.compare import compare
        from lowwater.verdict.says import says

        name = factor.part_name(detail) if detail else factor.name
        self._listener.begins(name)
        wanted = factor.wanted(facts, detail)
        order = Order(self._cuts, factor.key, wanted, factor.environment)
        _, measured = self._measure(order, base)
        difference = compare(base, measured)
        parts = factor.parts(facts)
        only = next(iter(parts.values())) if len(parts) == 1 else ""
        blamed = parts.get(detail) or only or factor.blamed
        return Experiment(
            name,
            says(f"not {blamed}" if detail else factor.cleared, blamed, difference),
            factor.question,
            detail,
            measured,
            difference,
            blamed,
            factor.codes,
            factor.covers,
            factor.rejects,
            factor.places(facts, detail),
        )

    def _measure(self, order: Order, base: Measured | None) -> tuple[Ran, Measured]:
        from lowwater.verdict.measure import measured_in

        longest_s = max(_LEAST_TIME_S, _SLOWER * base.elapsed_s) if base else float("inf")
        ran = self._reruns.run(order, longest_s)
        self._earlier += ran.is_earlier
        return ran, measured_in(ran.diagnosis, base, ran.last_words)


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

    def with_later(factor: Factor) -> int:
        later = (rank(other) for other in factors if factor.key in other.after)
        return min(rank(factor), *later, len(codes))

    return sorted(factors, key=with_later)


def _left_out(factor: Factor, why: str) -> Experiment:
    return Experiment(factor.name, why, factor.key, codes=factor.codes)
