from lowwater.causes.catalogue import find_causes
from lowwater.model import Ledger, tallies
from lowwater.testing import a_holder, a_model, a_module, a_step, a_tally, an_evidence

FIT = a_tally(tallies.CALLS, "fit", where="train.py:14")


def a_registry(mib=1.0):
    return a_holder(
        a_module("tensorflow.python.framework.ops"),
        a_step("._gradient_registry", "tensorflow.python.framework.registry.Registry"),
        a_step("._registry", "dict"),
        a_step("[*]", "dict"),
        a_step("['type']", "function"),
        a_step(
            "closure result",
            "tensorflow.python.framework.func_graph.FuncGraph",
            "tensorflow.python.framework.ops.Graph",
        ),
        grows="._registry",
        items=24,
        mib=mib,
        is_users=False,
    )


def test_models_fitted_in_a_loop_are_kept_by_the_registry():
    made = a_tally(tallies.CALLS, "Model", where="train.py:11")
    compiled = a_tally(tallies.CALLS, "compile", where="train.py:13")

    [finding] = find_causes(an_evidence(a_registry(), FIT, made, compiled, unit="model"))

    assert finding.code == "LW205"
    assert finding.message == (
        "TensorFlow's gradient registry grows by 24 functions with every model built, and each "
        "keeps the graphs and weights of a trained model. A leak in tensorflow (reported from "
        "2.11 on, measured on 2.21; a fix for training only was merged later "
        "(tensorflow/tensorflow#109334)); reported as tensorflow/tensorflow#97697."
    )
    assert finding.where == "train.py:14"
    assert finding.library == "tensorflow"
    assert finding.share == 1.0


def test_graphs_that_were_only_predicted_with_hold_a_custom_gradient():
    predict = a_tally(tallies.CALLS, "predict", where="serve.py:20")
    made = a_tally(tallies.CALLS, "Model", where="serve.py:11")

    [finding] = find_causes(an_evidence(a_registry(), predict, made, unit="model"))

    assert finding.code == "LW205"
    assert finding.where == "serve.py:20"
    assert finding.message.startswith(
        "TensorFlow's gradient registry grows by 24 functions with every model built, and each "
        "keeps a graph with a custom gradient, such as `silu` or `swish`."
    )
    assert finding.fix.startswith("Call the model itself, `model(x)`")


def test_compile_is_not_blamed_where_the_models_made_were_not_counted():
    compiled = a_tally(tallies.CALLS, "compile", where="train.py:13")

    assert [f.code for f in find_causes(an_evidence(a_registry(), FIT, compiled))] == ["LW205"]


def test_list_that_keeps_the_models_as_well_stands_first():
    held = a_holder(
        a_module(), a_step(".models", "list"), a_model(), grows=".models", added_at="train.py:15"
    )

    findings = find_causes(an_evidence(held, a_registry(mib=4.5), FIT, mib=8.5))

    assert [found.code for found in findings] == ["LW201", "LW205"]
    assert sum(found.share for found in findings) == 1.0


def test_registry_that_is_clearly_larger_stands_first():
    held = a_holder(a_module(), a_step(".models", "list"), a_model(), grows=".models", mib=1)

    findings = find_causes(an_evidence(held, a_registry(mib=3), FIT))

    assert [found.code for found in findings] == ["LW205", "LW201"]


def test_another_registry_is_not_blamed():
    other = a_holder(
        a_module("tensorflow.python.framework.proto"),
        a_step("._proto_functions", "tensorflow.python.framework.registry.Registry"),
        a_step("._registry", "dict"),
        grows="._registry",
        is_users=False,
    )

    assert [found.code for found in find_causes(an_evidence(other))] == ["LW404"]


def test_models_that_the_program_keeps_are_held_by_the_registry_as_well():
    held = a_holder(a_module(), a_step(".models", "list"), a_model(), grows=".models")
    alive = a_tally(tallies.MODELS, "Sequential", where="train.py:11")
    filling = Ledger(counts={"gradients": (611, 633)})

    first, second = find_causes(an_evidence(held, alive, FIT, ledger=filling))

    assert (first.code, first.share) == ("LW201", 1.0)
    assert (second.code, second.share, second.where) == ("LW205", None, "train.py:14")
    assert second.message.startswith(
        "TensorFlow's gradient registry also holds the trained graphs of these models, so "
        "dropping the models does not free them completely."
    )


def test_models_that_were_never_trained_are_held_by_the_program_alone():
    held = a_holder(a_module(), a_step(".models", "list"), a_model(), grows=".models")
    alive = a_tally(tallies.MODELS, "Sequential", where="train.py:11")
    level = Ledger(counts={"gradients": (611, 611)})

    assert [f.code for f in find_causes(an_evidence(held, alive, ledger=level))] == ["LW201"]


def test_release_without_the_leak_is_not_blamed_beside_the_program():
    held = a_holder(a_module(), a_step(".models", "list"), a_model(), grows=".models")
    alive = a_tally(tallies.MODELS, "Sequential", where="train.py:11")
    filling = Ledger(counts={"gradients": (611, 633)})
    mended = {"tensorflow": "2.22.0"}

    findings = find_causes(an_evidence(held, alive, ledger=filling, environment=mended))

    assert [found.code for found in findings] == ["LW201"]
