import pytest

from lowwater import tallies
from lowwater.causes import find_causes
from lowwater.model import Tally
from lowwater.testing import a_holder, a_module, a_step, an_evidence


def test_list_of_tapes_is_found():
    held = a_holder(
        a_module(),
        a_step(".tapes", "list"),
        a_step("[*]", "tensorflow.python.eager.backprop.GradientTape"),
        grows=".tapes",
        added_at="train.py:15",
        mib=0.5,
    )

    [finding] = find_causes(an_evidence(held, unit="iteration"))

    assert finding.code == "LW208"
    assert finding.message == (
        "`tapes` grows by one `GradientTape` object every iteration, "
        "with all that the tape recorded."
    )
    assert finding.where == "train.py:15"
    assert finding.share == 1.0


def test_list_of_losses_is_no_tape():
    held = a_holder(
        a_module(),
        a_step(".losses", "list"),
        a_step("[*]", "tensorflow.python.framework.ops.EagerTensor", about="float32 ()"),
        grows=".losses",
    )

    assert [found.code for found in find_causes(an_evidence(held))] == ["LW102"]


def test_tape_that_is_never_closed_is_found_where_it_is_made():
    tape = Tally(tallies.TAPES, "GradientTape", (0, 1, 1), "train.py:17")

    [finding] = find_causes(an_evidence(tape, mib=2))

    assert (finding.code, finding.where, finding.share) == ("LW208", "train.py:17", 1.0)
    assert "recording through all rounds" in finding.message
    assert "with tf.GradientTape() as tape" in finding.fix


@pytest.mark.parametrize("counts", [(0, 0, 0), (0, 1, 0)])
def test_tape_of_the_present_step_is_innocent(counts):
    tape = Tally(tallies.TAPES, "GradientTape", counts, "train.py:17")

    assert [found.code for found in find_causes(an_evidence(tape, mib=2))] == ["LW404"]
