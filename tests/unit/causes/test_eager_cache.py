from lowwater import tallies
from lowwater.causes import find_causes
from lowwater.testing import a_holder, a_module, a_step, a_tally, an_evidence

SHAPES = a_tally(tallies.SHAPES, "predict", each=12, where="serve.py:13")
REFERENCE = (
    "A leak of tensorflow (measured on 2.21; no release without it is known); we know of no report."
)


def test_predict_on_ever_new_shapes_is_found():
    [finding] = find_causes(an_evidence(SHAPES, unit="iteration"))

    assert finding.code == "LW209"
    assert finding.message == (
        "`predict` is given 12 new shapes every iteration, and TensorFlow keeps kernels for each. "
        + REFERENCE
    )
    assert finding.where == "serve.py:13"
    assert finding.library == "tensorflow"


def test_cache_of_python_numbers_is_found():
    held = a_holder(
        a_module("tensorflow.python.eager.context"),
        a_step("._context", "tensorflow.python.eager.context.Context"),
        a_step("._tensor_caches", "tensorflow.python.eager.context._TensorCaches"),
        a_step(".scalar_cache", "dict"),
        a_step("[*]", "tensorflow.python.framework.ops.EagerTensor", about="float32 ()"),
        grows=".scalar_cache",
        items=1000,
        is_users=False,
    )

    [finding] = find_causes(an_evidence(held))

    assert finding.code == "LW209"
    assert finding.message == (
        f"TensorFlow's cache of Python numbers grows by 1,000 entries every epoch. {REFERENCE}"
    )


def test_models_that_come_and_go_leave_kernels():
    made = a_tally(tallies.CALLS, "Model", where="train.py:9")

    [finding] = find_causes(an_evidence(made, unit="model"))

    assert finding.code == "LW209"
    assert finding.message.startswith(
        "Models are built again and again, and TensorFlow keeps kernels for each."
    )


def test_shapes_that_are_traced_anew_are_the_functions():
    traces = a_tally(tallies.TRACES, "one_step_on_data", each=12)

    assert [found.code for found in find_causes(an_evidence(SHAPES, traces))] == ["LW202"]


def test_few_shapes_that_come_again_are_innocent():
    shapes = a_tally(tallies.SHAPES, "predict", each=0, start=4, where="serve.py:13")

    assert [found.code for found in find_causes(an_evidence(shapes))] == ["LW404"]
