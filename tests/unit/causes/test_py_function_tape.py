from lowwater.causes.catalogue import find_causes
from lowwater.model import tallies
from lowwater.testing import a_holder, a_module, a_step, a_tally, an_evidence

TENSOR = a_step("[2]", "tensorflow.python.framework.ops.EagerTensor", about="float32 (96, 256)")
CALL = a_tally(tallies.CALLS, "py_function", each=8, where="train.py:20")


def a_table(module="tensorflow.python.ops.script_ops"):
    return a_holder(
        a_module(module),
        a_step(".tape_cache", "dict"),
        a_step("[*]", "tuple"),
        TENSOR,
        grows=".tape_cache",
        items=8,
        is_users=module == "__main__",
    )


def test_calls_under_a_tape_that_nobody_asks_the_gradient_of_are_found():
    [finding] = find_causes(an_evidence(a_table(), CALL))

    assert finding.code == "LW305"
    assert finding.message == (
        "TensorFlow keeps the arguments of `py_function` calls made under a tape: 8 calls every "
        "epoch, with a float32 tensor (96, 256) and more. A leak in tensorflow (reported on 2.0, "
        "measured on 2.21; no release without it is known); reported as "
        "tensorflow/tensorflow#35084."
    )
    assert (finding.where, finding.holder) == ("train.py:20", "tensorflow tape cache")


def test_table_of_the_program_with_the_same_name_is_the_programs():
    [finding] = find_causes(an_evidence(a_table("__main__"), CALL))

    assert finding.code == "LW102"
