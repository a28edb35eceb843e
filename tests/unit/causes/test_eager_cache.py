from dataclasses import replace

import pytest

from lowwater.causes.catalogue import find_causes
from lowwater.model import tallies
from lowwater.testing import a_tally, an_evidence

SHAPES = a_tally(tallies.SHAPES, "predict", each=12, where="serve.py:13")
KB = 1 / 1024
LEAK = "A leak in tensorflow (measured on 2.21; no release without it is known); reported as"


def counted(name, *, each, where="train.py:9"):
    return a_tally(tallies.CALLS, name, each=each, where=where)


def codes(*seen, **options):
    return [found.code for found in find_causes(an_evidence(*seen, **options))]


def test_eager_random_operations_under_a_seed_are_found():
    drawn = counted(tallies.SEED_DRAWN, each=24), counted(tallies.SEED_DRAWN, each=12, where="a:1")

    [finding] = find_causes(an_evidence(*drawn, mib=36 * 36 * KB))

    assert finding.code == "LW209"
    assert finding.message == (
        "With a global seed, eager random operations take a new seed 36 times every epoch, and "
        f"TensorFlow keeps a kernel for each. {LEAK} tensorflow/tensorflow#37252."
    )
    assert (finding.where, finding.holder) == ("train.py:9", "tensorflow kernel cache")
    assert "tf.random.Generator" in finding.fix


def test_few_draws_do_not_explain_much_growth():
    """One shuffle of a data set per epoch draws a seed too."""
    assert codes(counted(tallies.SEED_DRAWN, each=1), mib=4) == ["LW404"]


@pytest.mark.parametrize("call", ["clear_session", "set_seed"])
@pytest.mark.parametrize("name", [tallies.SEED_DRAWN, tallies.VARIABLE_NAMED])
def test_kernels_that_are_thrown_away_every_round_are_innocent(call, name):
    thrown = counted(call, each=1, where="train.py:20")

    assert codes(counted(name, each=36), thrown, mib=1) == ["LW404"]


def test_new_python_numbers_are_found():
    numbers = counted(tallies.NUMBER, each=2000)

    [finding] = find_causes(an_evidence(numbers, mib=2000 * 0.56 * KB))

    assert finding.code == "LW209"
    assert finding.message == (
        "Eager operations are given 2,000 new Python numbers every epoch, "
        f"and TensorFlow keeps a handle for each. {LEAK} tensorflow/tensorflow#68196."
    )
    assert "np.float32(value)" in finding.fix


def test_numbers_stay_though_the_kernels_are_thrown_away():
    thrown = counted("clear_session", each=1)

    assert codes(counted(tallies.NUMBER, each=2000), thrown, mib=1) == ["LW209"]


def test_numbers_have_no_larger_share_than_what_they_take():
    """157 numbers at 0.6 KB are not 260 KB."""
    [finding] = find_causes(an_evidence(counted(tallies.NUMBER, each=157), mib=260 * KB))

    assert finding.code == "LW209"
    assert finding.share == pytest.approx(1.5 * 157 * 0.56 / 260, rel=0.05)


def test_few_numbers_do_not_explain_much_growth():
    assert codes(counted(tallies.NUMBER, each=50), mib=4) == ["LW404"]


def test_predict_on_ever_new_shapes_is_found():
    [finding] = find_causes(an_evidence(SHAPES, unit="iteration"))

    assert finding.code == "LW209"
    assert finding.message == (
        "`predict` gets 12 new shapes every iteration, and TensorFlow keeps kernels for each. "
        f"{LEAK} tensorflow/tensorflow#23455."
    )
    assert finding.where == "serve.py:13"
    assert finding.library == "tensorflow"


def test_models_that_come_and_go_leave_kernels():
    made = counted("Model", each=1)

    [finding] = find_causes(an_evidence(made, unit="model"))

    assert finding.code == "LW209"
    assert finding.message.startswith(
        "Models are built again and again, and TensorFlow keeps kernels for each."
    )


def test_models_with_too_few_variables_do_not_explain_the_growth():
    made, variables = counted("Model", each=1), counted(tallies.VARIABLE_NAMED, each=6)

    assert codes(made, variables, mib=4) == ["LW404"]
    assert codes(made, variables, mib=0.25) == ["LW209"]


def test_saving_one_model_again_and_again_names_new_variables():
    one_model = counted("Model", each=0)
    variables = counted(tallies.VARIABLE_NAMED, each=2, where="train.py:30")

    [finding] = find_causes(an_evidence(one_model, variables, mib=70 * KB))

    assert finding.message.startswith(
        "Variables with new names are created, 2 variables every epoch, and TensorFlow keeps a "
        "kernel for each."
    )
    assert finding.where == "train.py:30"


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_shapes_of_another_backend_are_not_tensorflows(backend):
    assert codes(SHAPES, mib=0.9, environment={"keras": "3.15.1", backend: "1.0"}) == ["LW404"]
    both = {"tensorflow": "2.21.0", backend: "1.0"}
    assert codes(SHAPES, mib=0.9, environment=both) == ["LW209"]


def test_shapes_that_are_traced_anew_are_the_functions():
    traces = a_tally(tallies.TRACES, "one_step_on_data", each=12)

    assert codes(SHAPES, traces) == ["LW202"]


def test_few_shapes_that_come_again_are_innocent():
    shapes = a_tally(tallies.SHAPES, "predict", each=0, start=4, where="serve.py:13")

    assert codes(shapes) == ["LW404"]


def test_a_shape_now_and_then_is_no_growth():
    seldom = replace(SHAPES, counts=(1, 1, 2))

    assert codes(seldom, mib=9) == ["LW404"]


def test_what_shapes_cannot_have_taken_is_left_to_others():
    few = a_tally(tallies.SHAPES, "predict", each=1, where="serve.py:13")

    found = find_causes(an_evidence(few, mib=8))

    assert [(one.code, one.share) for one in found] == [("LW404", 0.75), ("LW209", 0.25)]


def held(mib, *seen):
    """Twelve rounds of 4 MiB, and what the cache of kernels gave back at the end."""
    return replace(an_evidence(*seen, where="train.py:5"), kernel_cache_bytes=round(mib * 2**20))


def test_kernels_that_nobody_has_counted_are_found_by_what_they_held():
    [finding] = find_causes(held(40.0))

    assert (finding.code, finding.where, finding.share) == ("LW209", "train.py:5", 1.0)
    assert finding.message == (
        "TensorFlow keeps a kernel for each new form of an eager operation; at the end of the "
        f"program, these kernels held 40.0 MiB. {LEAK} tensorflow/tensorflow#37252."
    )


def test_the_line_is_that_of_an_eager_python_function_where_there_is_one():
    [finding] = find_causes(held(40.0, counted("py_function", each=1)))

    assert finding.where == "train.py:9"


def test_kernels_of_any_program_do_not_explain_much_growth():
    assert [found.code for found in find_causes(held(2.0))] == ["LW404"]


def test_models_whose_kernels_are_not_there_left_none():
    made = counted("Model", each=1)

    assert [found.code for found in find_causes(held(1.0, made))] == ["LW404"]
    assert [found.code for found in find_causes(held(40.0, made))] == ["LW209"]
