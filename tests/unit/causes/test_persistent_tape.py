from lowwater.causes import find_causes
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
