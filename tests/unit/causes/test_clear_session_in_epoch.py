from dataclasses import replace

import pytest

from lowwater.causes.catalogue import find_causes
from lowwater.model import Kind, Tally, tallies
from lowwater.testing import a_holder, a_module, a_step, a_tally, an_evidence

CLEARED = a_tally(tallies.CALLS, "clear_session", where="train.py:12")
ONE_MODEL = a_tally(tallies.CALLS, "Model", each=0, where="train.py:9")


def test_state_cleared_under_a_model_is_found():
    graphs = a_holder(
        a_module("tensorflow.python.framework.ops"),
        a_step("._graphs", "list"),
        a_step("[*]", "tensorflow.python.framework.ops.Graph"),
        grows="._graphs",
        is_users=False,
    )

    [finding] = find_causes(an_evidence(CLEARED, ONE_MODEL, graphs))

    assert finding.code == "LW206"
    assert finding.message == (
        "`clear_session()` is called once every epoch while the same model is being trained."
    )
    assert finding.where == "train.py:12"


def test_state_cleared_between_models_is_innocent():
    made = a_tally(tallies.CALLS, "Model", where="train.py:9")

    findings = find_causes(an_evidence(CLEARED, made, unit="model"))

    assert "LW206" not in [found.code for found in findings]


def test_nobody_is_blamed_where_the_models_made_were_not_counted():
    assert [found.code for found in find_causes(an_evidence(CLEARED))] == ["LW404"]


@pytest.mark.parametrize("kind", [Kind.LEAK, Kind.FLAT])
def test_state_cleared_under_a_model_is_told_whether_or_not_it_leaks(kind):
    evidence = an_evidence(CLEARED, ONE_MODEL, kind=kind)
    [finding] = [found for found in find_causes(evidence) if found.code == "LW206"]

    assert "repeat the same numbers after each call" in finding.message
    assert (finding.where, finding.share) == ("train.py:12", None)


def test_state_cleared_before_and_after_each_model_is_innocent():
    counts = Tally(tallies.CALLS, "clear_session", (10,), "train.py:12")
    made = Tally(tallies.CALLS, "Model", (5,), "train.py:9")

    assert find_causes(replace(an_evidence(kind=Kind.FLAT), tallies=(counts, made))) == ()
