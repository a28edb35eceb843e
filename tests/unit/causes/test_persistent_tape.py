from dataclasses import replace

import pytest

from lowwater.causes.catalogue import find_causes
from lowwater.model import Tally, tallies
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
        "`tapes` grows by one `GradientTape` object every iteration, with everything the tape "
        "recorded."
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
    assert "records through all rounds" in finding.message
    assert "with tf.GradientTape() as tape" in finding.fix


@pytest.mark.parametrize("counts", [(0, 0, 0), (0, 1, 0)])
def test_tape_of_the_present_step_is_innocent(counts):
    tape = Tally(tallies.TAPES, "GradientTape", counts, "train.py:17")

    assert [found.code for found in find_causes(an_evidence(tape, mib=2))] == ["LW404"]


def with_a_tape_beside_the_tensor(mib):
    tape = a_step("[0]", "tensorflow.python.eager.backprop.GradientTape")
    held = a_holder(
        a_module(),
        a_step(".kept", "list"),
        a_step("[*]", "tuple"),
        a_step("[1]", "tensorflow.python.framework.ops.EagerTensor", about="float32 (256, 256)"),
        grows=".kept",
        added_at="train.py:18",
        mib=mib,
    )
    return replace(held, brings=(tape,))


def test_tape_beside_the_tensor_is_found_where_most_of_the_growth_is_native():
    held = with_a_tape_beside_the_tensor(mib=0.25)

    finding, *_ = find_causes(an_evidence(held, unit="iteration", mib=3))

    assert (finding.code, finding.where) == ("LW208", "train.py:18")
    assert finding.message == (
        "`kept` grows by one tuple every iteration. Each holds a gradient tape with everything "
        "it recorded."
    )


def test_used_tape_beside_a_tensor_that_is_all_of_the_growth_is_innocent():
    held = with_a_tape_beside_the_tensor(mib=3)

    assert [found.code for found in find_causes(an_evidence(held, mib=3))] == ["LW102"]
