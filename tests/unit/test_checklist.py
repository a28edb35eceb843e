"""Which experiments are made, in which order, and when it is enough."""

from dataclasses import dataclass, field, replace

import pytest

from lowwater.checklist import Checklist
from lowwater.experiment import Difference, Effect, Experiment, Measured
from lowwater.experiments.cuts import Cuts
from lowwater.experiments.factors import find_factor
from lowwater.experiments.facts import Facts
from lowwater.lab import Ground
from lowwater.model import Diagnosis, Finding, Kind, Verdict
from lowwater.rerun import Ran

LEAK = Measured(Kind.LEAK, "epoch", None, 12, 4000, (3900, 4100), elapsed_s=8.0)
FLAT = Measured(Kind.FLAT, "epoch", None, 12, 0, (0, 0), elapsed_s=8.0)
SAME = Difference(Effect.SAME)
STOPS = Difference(Effect.STOPS, 1.0)
FACTS = Facts(
    fits=2, models=2, callbacks={"A": "", "B": ""}, inputs=("tf.data",), backend="tensorflow"
)


@dataclass
class StubLab:
    """Answers with what it was told to, in the place of runs of minutes."""

    answers: dict[tuple[str, ...], Difference]
    findings: tuple[Finding, ...] = ()
    base: Measured = LEAK
    left_s: float = float("inf")
    made: list[tuple[str, ...]] = field(default_factory=list)
    cuts: Cuts = field(default_factory=Cuts)
    earlier: int = 0

    @property
    def facts(self):
        return replace(FACTS, found=tuple(one.code for one in self.findings))

    @facts.setter
    def facts(self, _):
        pass

    def as_it_is(self, _):
        return Ran(
            Diagnosis(Verdict(self.base.kind, ""), findings=self.findings), "", ""
        ), self.base

    def tries(self, factor, detail, ground):
        changes = (*ground.changes, f"{factor.key} {detail}".strip())
        self.made.append(changes)
        difference = self.answers.get(changes, SAME)
        measured = FLAT if difference.effect is Effect.STOPS else LEAK
        yield Experiment(
            "", "", factor.key, detail, measured, difference, codes=factor.codes, blamed=factor.key
        )

    def made_by(self, tried):
        return find_factor(tried.key)

    def ground_with(self, tried):
        return Ground(LEAK, (tried.key,))

    def ground_beside(self, tried, _):
        return Ground(LEAK, (tried.key,), partner=tried.blamed)


class Silent:
    def begins(self, name): ...
    def expects(self, base, runs): ...
    def done(self, one): ...


def checked(lab, **options):
    return Checklist(lab, Silent(), **options).run().diagnosis


def found(code):
    return Finding(code, "", "", "", "train.py:3")


def test_program_that_does_not_grow_is_run_once():
    lab = StubLab({}, base=FLAT)

    assert len(checked(lab).experiments.rows) == 1
    assert lab.made == []


def test_when_the_cause_is_certain_the_rest_is_not_needed_unless_all_is_wanted():
    lab = StubLab({("callbacks",): STOPS, ("callbacks A",): STOPS})
    rows = checked(lab).experiments.rows

    assert lab.made == [("callbacks",), ("callbacks A",)]
    assert {one.says for one in rows if one.key == "mended"} == {"not needed"}

    checked(everything := StubLab(lab.answers), runs_all=True)

    assert ("mended",) in everything.made


def test_what_the_findings_speak_for_comes_first():
    lab = StubLab({("eager",): STOPS}, findings=(found("LW202"),))

    checked(lab)

    assert lab.made == [("eager",)]


def test_small_leak_that_is_left_is_looked_for_where_the_large_one_is_gone():
    answers = {("eager",): Difference(Effect.LESS, 0.95), ("eager", "callbacks"): STOPS}
    lab = StubLab(answers, findings=(found("LW202"), found("LW101")))

    checked(lab)

    assert lab.made[0] == ("eager",)
    assert ("eager", "callbacks") in lab.made
    assert ("callbacks",) not in lab.made
    # No finding speaks for it, and the cause is known.
    assert not any("heap" in changes for changes in lab.made)


def test_two_changes_that_do_nothing_alone_are_made_together():
    lab = StubLab({}, findings=(found("LW205"), found("LW202")))

    checked(lab)

    *singles, pair = lab.made
    assert all(len(changes) == 1 for changes in singles)
    assert len(pair) == 2


# Both `mended` and the emptied caches speak for LW209, and for nothing else that was found.
@pytest.mark.parametrize("codes", [(), ("LW101",), ("LW209",)])
def test_without_two_findings_nothing_is_made_together(codes):
    lab = StubLab({}, findings=tuple(map(found, codes)))

    checked(lab)

    assert all(len(changes) == 1 for changes in lab.made)


def test_without_time_for_another_run_none_is_made():
    lab = StubLab({}, left_s=7.9)

    rows = checked(lab).experiments.rows

    assert lab.made == []
    assert "no time left (--budget)" in {one.says for one in rows}


def cuts_of_first_runs(measured, environment):
    lab = StubLab({}, base=measured)
    seen = []

    def as_it_is(_):
        seen.append(lab.cuts)
        verdict = Verdict(measured.kind, "", more_units_needed=30)
        return Ran(Diagnosis(verdict, environment=environment), "", ""), measured

    lab.as_it_is = as_it_is
    checked(lab)
    return seen


CUT = {"experiment.epochs_cut": "12"}
UNSURE = Measured(Kind.INCONCLUSIVE, "epoch", None, 2)
SLOW = Measured(Kind.SAWTOOTH, "epoch", None, 12, 140_000, (130_000, 150_000))
LEVEL = Measured(Kind.FLAT, "epoch", None, 12, 10_000, (9_000, 14_000))


def test_run_that_was_cut_too_short_is_made_once_more_and_longer():
    first, second = cuts_of_first_runs(UNSURE, CUT)

    assert second.epochs == first.epochs + 30


def test_slow_growth_that_is_no_leak_yet_is_looked_at_for_longer():
    first, second = cuts_of_first_runs(SLOW, CUT)

    assert second == first.much_longer()
    assert second.epochs == 4 * first.epochs


@pytest.mark.parametrize(("measured", "environment"), [(LEVEL, CUT), (SLOW, {}), (UNSURE, {})])
def test_level_program_and_one_that_was_not_cut_are_run_once(measured, environment):
    assert len(cuts_of_first_runs(measured, environment)) == 1
