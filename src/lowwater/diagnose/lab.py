"""Tries one change of the program, and compares it with the same program without it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from lowwater.diagnose.cuts import Cuts
from lowwater.diagnose.factors import Factor, find_factor, in_its_place
from lowwater.diagnose.facts import Facts
from lowwater.diagnose.rerun import ChangeWanted, Ran, Reruns, RunOrder
from lowwater.model.experiment import TOGETHER, Experiment, Measured

# An experiment may be slower than the program, eager execution above all; a hanging one is ended.
_SLOWER = 6
_LEAST_TIME_S = 60


class Listener(Protocol):
    """Who is told how far it has come."""

    def begins(self, name: str) -> None:
        """A run is about to start."""

    def expects(self, base: Experiment, runs: int) -> None:
        """The program as it is grows, so that many more runs follow at most."""

    def done(self, one: Experiment) -> None:
        """A line of the table is complete."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What a change is made on: the program as it is, or with another change made before.

    `share` is how much of the program's growth is there. `partner` is what the change before has
    taken away to little effect: two may hold the same thing, and it goes only when both let go.
    """

    measured: Measured
    changes: tuple[ChangeWanted, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    share: float = 1.0
    partner: Factor | None = None


class Lab:
    """All runs of one program with one length; `facts` is what is known of it."""

    def __init__(self, reruns: Reruns, cuts: Cuts, listener: Listener) -> None:
        """Nothing is run yet."""
        self.cuts = cuts
        self.facts = Facts()
        self.earlier = 0
        self._reruns = reruns
        self._listener = listener
        self._grounds: dict[Experiment, Ground] = {}

    @property
    def left_s(self) -> float:
        """What is left of the budget."""
        return self._reruns.left_s

    def as_it_is(self, name: str, longest_s: float = float("inf")) -> tuple[Ran, Measured]:
        """The program without any change, for so long at most."""
        self._listener.begins(name)
        return self._measured(RunOrder(self.cuts), None, longest_s)

    def as_it_is_longer(self, name: str, first: Measured) -> tuple[Ran, Measured]:
        """The same for longer, but not for hours where the first took minutes."""
        return self.as_it_is(name, max(_LEAST_TIME_S, _SLOWER * first.elapsed_s))

    def tries(self, factor: Factor, detail: str, ground: Ground) -> Iterator[Experiment]:
        """The change; where the program cannot be run with it, also the one in its place."""
        from lowwater.diagnose.conclude import has_failed

        for one in (factor, *in_its_place(factor)):
            if one is not factor and one.why_not_part(self.facts, detail) is not None:
                return
            tried = self._tried(one, detail, ground)
            yield tried
            if not has_failed(tried):
                return

    def made_by(self, tried: Experiment) -> Factor:
        """The change that was made in the end, perhaps in the place of another."""
        return find_factor(self._grounds[tried].changes[-1][0])

    def ground_with(self, tried: Experiment) -> Ground:
        """For changes on top of one that has helped."""
        return self._grounds[tried]

    def ground_beside(self, partner: Factor, base: Ground) -> Ground:
        """For changes together with one that may hold the same; still compared with the base."""
        changes = ((partner.key, partner.wanted(self.facts, "")),)
        return replace(base, changes=changes, environment=partner.variables(), partner=partner)

    def _tried(self, factor: Factor, detail: str, ground: Ground) -> Experiment:
        from lowwater.diagnose.compare import compare
        from lowwater.diagnose.says import says

        facts, is_on_top = self.facts, bool(ground.changes)
        name = factor.part_name(detail) if detail else factor.name
        name = f"also {name}" if is_on_top else name
        self._listener.begins(name)
        wanted = factor.wanted(facts, detail)
        changes = (*ground.changes, (factor.key, wanted))
        environment = {**ground.environment, **factor.variables()}
        ran, measured = self._measured(RunOrder(self.cuts, changes, environment), ground.measured)
        measured = _with_problems(measured, factor, ran.diagnosis.facts, wanted)
        facts = factor.seen_facts(facts, ran.diagnosis.facts, wanted)
        difference = compare(ground.measured, measured)
        share = difference.share * ground.share
        blamed, partner = _blamed(factor, facts, detail), ground.partner
        if partner is not None and not detail:
            blamed = f"{blamed}{TOGETHER}{_blamed(partner, facts)},"
        codes, tests = factor.codes_in(facts), factor.tests(facts, detail)
        tried = Experiment(
            name,
            says(f"not {blamed}" if detail else factor.cleared, blamed.rstrip(","), difference),
            factor.question,
            detail,
            measured,
            replace(difference, share=share),
            blamed,
            # What was made for single findings speaks of no others of their kind.
            (*(() if tests else codes), *(partner.codes_in(facts) if partner is not None else ())),
            # What the ground has taken away is in nobody's share any more.
            () if is_on_top else factor.covers,
            () if is_on_top else factor.rejects,
            factor.places(facts, detail),
            tests,
            (factor.question, partner.question) if partner is not None else (),
            factor.how(facts, detail),
            factor.changes_amount,
            bool({*codes} & {*facts.found}),
        )
        self._grounds[tried] = Ground(measured, changes, environment, ground.share - share)
        return tried

    def _measured(
        self, order: RunOrder, base: Measured | None, longest_s: float = float("inf")
    ) -> tuple[Ran, Measured]:
        from lowwater.diagnose.measure import measured_in

        if base is not None:
            longest_s = max(_LEAST_TIME_S, _SLOWER * base.elapsed_s)
        ran = self._reruns.run(order, longest_s)
        measured = measured_in(ran.diagnosis, base, ran.last_words)
        if ran.is_earlier and ran.has_failed and _may_end_otherwise(measured):
            ran = self._reruns.run(order, longest_s, again=True)
            measured = measured_in(ran.diagnosis, base, ran.last_words)
        self.earlier += ran.is_earlier
        return ran, measured


def _blamed(factor: Factor, facts: Facts, detail: str = "") -> str:
    """The part that is meant, or the only one there is."""
    parts = factor.parts(facts)
    only = next(iter(parts.values())) if len(parts) == 1 else ""
    return parts.get(detail) or only or factor.all_blamed(facts)


def _with_problems(
    measured: Measured, factor: Factor, told: Mapping[str, Any], wanted: str
) -> Measured:
    """What the run itself says about the change that was to be made in it."""
    return replace(
        measured,
        not_made=measured.not_made or factor.not_made(told, wanted),
        left_out=measured.left_out or factor.left_out(told, wanted),
    )


def _may_end_otherwise(measured: Measured) -> bool:
    """A file that was in the way may be gone by now; a run that was too slow stays so."""
    return measured.fails
