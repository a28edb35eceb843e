"""What findings name is let go, and a run in which that came to nothing tests nothing."""

from dataclasses import replace

from lowwater.diagnose.change import Change
from lowwater.diagnose.factors import find_factor
from lowwater.diagnose.facts import Facts
from lowwater.model import Finding, Step
from lowwater.model.experiment import Fact

CUT = find_factor("cut")
MAIN = Step("", "module", about="__main__")
RUNS = Finding(
    *("LW103", "", "", "", "train.py:26", "runs"), paths=((MAIN, Step(".runs", "list")),)
)
TABLES = Finding(
    *("LW213", "", "", "", "train.py:13", "registered classes"),
    library="keras",
    paths=tuple(
        (Step("", "module", about="keras.src.registration"), Step(f".{name}", "dict"))
        for name in ("NAMES", "OBJECTS")
    ),
)


def facts_of(*findings):
    return replace(Facts.of({"tensorflow": "2.21"}, findings), unit=("epoch", None))


def test_finding_without_a_path_and_what_mend_lets_go_are_not_asked():
    registry = replace(RUNS, code="LW205")

    for findings in ([], [replace(RUNS, paths=())], [registry]):
        assert CUT.why_not(facts_of(*findings)) is not None
    assert CUT.why_not(facts_of(RUNS)) is None


def test_what_is_blamed_is_told_by_its_name_and_its_line():
    facts = facts_of(RUNS, TABLES)

    assert CUT.parts(facts) == {
        "train.py:26": "what `runs` keeps (train.py:26)",
        "train.py:13": "what `registration.NAMES` and `registration.OBJECTS` keep (train.py:13)",
    }
    assert CUT.how(facts, "train.py:26") == "when old items are removed from it in every epoch"
    assert CUT.tests(facts, "train.py:26") == (RUNS.identity,)


def test_two_findings_at_one_line_are_two_parts():
    other = replace(RUNS, holder="best", paths=((MAIN, Step(".best", "list")),))

    assert [*CUT.parts(facts_of(RUNS, other))] == ["train.py:26", "best"]


def test_run_in_which_nothing_was_cut_tests_nothing_and_one_of_two_is_a_part():
    wanted = CUT.wanted(facts_of(TABLES), "")

    assert CUT.not_made({}, wanted) == "nothing to remove was found at any of these places"
    assert CUT.not_made({Fact.PATHS_CUT: {"0": [""]}}, wanted) == ""
    assert (
        CUT.left_out({Fact.PATHS_CUT: {"0": [""]}}, wanted)
        == "1 of 2 containers could not be emptied"
    )
    assert CUT.left_out({Fact.PATHS_CUT: {"0": [""], "1": [""]}}, wanted) == ""


def test_what_was_cut_below_a_vague_trace_is_told_in_its_place():
    facts = facts_of(RUNS)

    seen = CUT.seen_facts(
        facts, {Fact.PATHS_CUT: {"0": ["Dense._outbound_nodes"]}}, CUT.wanted(facts, "")
    )

    assert [*CUT.parts(seen).values()] == ["what `Dense._outbound_nodes` keeps (train.py:26)"]


def test_only_boundaries_of_the_unit_count_and_epochs_have_no_line_yet():
    import __main__

    facts = replace(facts_of(RUNS), unit=("epoch", "train.py:20"))
    learned = []
    change = Change(lambda *_: None, learned.append)
    CUT.apply(change, CUT.wanted(facts, ""))
    __main__.runs = runs = []

    for number in range(10):
        runs.append(number)
        change.pass_boundary("iteration", "train.py:3")
    assert len(runs) == 10
    for number in range(10):
        runs.append(number)
        change.pass_boundary("epoch", None)
    del __main__.runs

    assert len(runs) < 20
    assert [one[Fact.PATHS_CUT] for one in learned] == [{"0": [""]}]
