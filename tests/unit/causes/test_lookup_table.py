from lowwater.causes.catalogue import find_causes
from lowwater.model import tallies
from lowwater.testing import a_tally, an_evidence

TABLES = a_tally(tallies.CALLS, tallies.TABLE, where="train.py:12")


def test_lookup_made_for_every_fold_is_found():
    [finding] = find_causes(an_evidence(TABLES, unit="iteration"))

    assert finding.code == "LW211"
    assert finding.message == (
        "New lookup tables are created, one lookup table every iteration, and TensorFlow keeps "
        "the entries of each. A leak in tensorflow (reported on 2.12, measured on 2.21; no "
        "release without it is known); reported as tensorflow/tensorflow#61866."
    )
    assert (finding.where, finding.holder) == ("train.py:12", "tensorflow lookup tables")


def test_tables_stay_though_the_session_is_cleared():
    cleared = a_tally(tallies.CALLS, "clear_session", where="train.py:20")
    one_model = a_tally(tallies.CALLS, "Model", each=0, where="train.py:9")

    found = find_causes(an_evidence(TABLES, cleared, one_model))

    # That the session is cleared under the model is told beside it, without a share.
    assert [(f.code, f.share) for f in found] == [("LW211", 1.0), ("LW206", None)]


def test_lookup_that_was_made_once_is_innocent():
    once = a_tally(tallies.CALLS, tallies.TABLE, each=0, where="train.py:12")

    assert [f.code for f in find_causes(an_evidence(once))] == ["LW404"]


def test_tables_do_not_take_what_a_function_that_is_traced_again_explains():
    traces = a_tally(tallies.TRACES, "step", where="train.py:30")

    assert [f.code for f in find_causes(an_evidence(TABLES, traces))] == ["LW202"]
