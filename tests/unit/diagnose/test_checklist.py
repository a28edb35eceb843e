"""Which experiments are made, in which order, and when it is enough."""

from dataclasses import dataclass, field, replace

import pytest

from lowwater.diagnose.checklist import Checklist
from lowwater.diagnose.cuts import Cuts
from lowwater.diagnose.factors import find_factor
from lowwater.diagnose.facts import Facts
from lowwater.diagnose.lab import Ground
from lowwater.diagnose.rerun import Ran
from lowwater.model import Diagnosis, Finding, Kind, Step, Verdict
from lowwater.model.experiment import Difference, Effect, Experiment, Measured, State

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
        seen = Facts.of({"tensorflow": "2.21"}, self.findings)
        return replace(FACTS, found=seen.found, held=seen.held)

    @facts.setter
    def facts(self, _):
        pass

    def as_it_is(self, _):
        return Ran(
            Diagnosis(Verdict(self.base.kind, ""), findings=self.findings), "", ""
        ), self.base

    def as_it_is_longer(self, name, _):
        return self.as_it_is(name)

    def tries(self, factor, detail, ground):
        changes = (*ground.changes, f"{factor.key} {detail}".strip())
        self.made.append(changes)
        difference = self.answers.get(changes, SAME)
        measured = FLAT if difference.effect is Effect.STOPS else LEAK
        together = (factor.key, ground.partner.key) if ground.partner else ()
        yield Experiment(
            *("", "", factor.key, detail, measured, difference),
            codes=(*factor.codes, *(ground.partner.codes if ground.partner else ())),
            blamed=factor.key,
            tests=factor.tests(self.facts, detail),
            together=together,
            is_amount=factor.changes_amount,
        )

    def made_by(self, tried):
        return find_factor(tried.key)

    def ground_with(self, tried):
        return Ground(LEAK, (tried.key,))

    def ground_beside(self, partner, _):
        return Ground(LEAK, (partner.key,), partner=partner)


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


def cuts_of_first_runs(measured, facts):
    lab = StubLab({}, base=measured)
    seen = []

    def as_it_is(_):
        seen.append(lab.cuts)
        verdict = Verdict(measured.kind, "", more_units_needed=30)
        return Ran(Diagnosis(verdict, facts=facts), "", ""), measured

    lab.as_it_is = as_it_is
    checked(lab)
    return seen


CUT = {"epochs_cut": "12"}
UNSURE = Measured(Kind.INCONCLUSIVE, "epoch", None, 2)
SLOW = Measured(Kind.SAWTOOTH, "epoch", None, 12, 140_000, (130_000, 150_000))
LEVEL = Measured(Kind.FLAT, "epoch", None, 12, 10_000, (9_000, 14_000))


def test_run_that_was_cut_too_short_is_made_once_more_and_longer():
    first, second, *_ = cuts_of_first_runs(UNSURE, CUT)

    assert second.epochs == first.epochs + 30


def test_slow_growth_that_is_no_leak_yet_is_looked_at_for_longer():
    first, second, *_ = cuts_of_first_runs(SLOW, CUT)

    assert second == first.much_longer()
    assert second.epochs == 4 * first.epochs


def test_program_that_is_level_when_it_is_cut_is_run_with_whole_rounds_before_it_is_acquitted():
    first, second = cuts_of_first_runs(LEVEL, CUT)

    assert second == first.whole_rounds()
    assert second.steps > 1_000_000


def test_program_that_leaks_only_with_whole_rounds_is_examined_in_these_and_that_is_said():
    lab = StubLab({("mended",): STOPS})
    lab.as_it_is = lambda _: (
        Ran(Diagnosis(Verdict(Kind.FLAT, ""), facts=CUT), "", ""),
        LEVEL,
    )
    lab.as_it_is_longer = lambda name, _: StubLab.as_it_is(lab, name)

    diagnosis = checked(lab)

    assert diagnosis.experiments.notes == (
        "all at full length, because the shortened program does not leak",
    )
    assert lab.cuts == Cuts().whole_rounds()
    assert ("mended",) in lab.made


@pytest.mark.parametrize(("measured", "facts"), [(LEVEL, {}), (SLOW, {}), (UNSURE, {})])
def test_program_that_was_not_cut_is_run_once(measured, facts):
    assert len(cuts_of_first_runs(measured, facts)) == 1


def held_by(name, code="LW201"):
    path = (Step("", "module", about="__main__"), Step(f".{name}", "list"))
    return Finding(code, "", "", "", f"train.py:{len(name)}", name, paths=(path,))


def test_holder_that_lets_go_is_the_end_of_it():
    lab = StubLab({("cut",): STOPS}, findings=(held_by("runs"),))

    conclusion = checked(lab).conclusion

    assert lab.made == [("cut",)]
    assert [state for _, state in conclusion.states] == [State.CONFIRMED]


def test_holder_is_asked_together_with_the_libraries_and_then_these_alone():
    lab = StubLab({("mended", "cut"): STOPS}, findings=(held_by("study"), found("LW205")))

    conclusion = checked(lab).conclusion

    assert lab.made == [("cut",), ("mended", "cut"), ("mended",)]
    assert [state for _, state in conclusion.states] == [State.CONFIRMED] * 2


def test_libraries_that_stop_it_alone_acquit_the_holder():
    answers = {("mended", "cut"): STOPS, ("mended",): STOPS}
    lab = StubLab(answers, findings=(held_by("study"), found("LW205")))

    states = {one.code: state for one, state in checked(lab).conclusion.states}

    assert states == {"LW205": State.CONFIRMED, "LW201": State.UNTESTED}


def test_libraries_that_add_nothing_to_a_holder_are_not_asked_alone():
    lab = StubLab({}, findings=(held_by("study"),))

    checked(lab)

    assert ("mended", "cut") in lab.made
    assert ("mended",) not in lab.made


def test_each_of_two_holders_is_asked_where_the_libraries_let_go_as_well():
    answers = {
        ("mended", "cut"): STOPS,
        ("mended", "cut train.py:5"): Difference(Effect.LESS, 0.8),
        ("mended", "cut train.py:4"): Difference(Effect.LESS, 0.2),
    }
    lab = StubLab(answers, findings=(held_by("study"), held_by("seen", "LW102")))

    conclusion = checked(lab).conclusion

    assert [state for _, state in conclusion.states] == [State.CONFIRMED] * 2


def test_what_makes_less_is_asked_last_once_a_holder_is_known():
    lab = StubLab(
        {("cut",): Difference(Effect.LESS, 0.6)},
        findings=(held_by("serve", "LW202"),),
    )

    checked(lab)

    order = [changes[-1] for changes in lab.made]
    assert order.index("caches") < order.index("eager")
