from lowwater.causes.catalogue import find_causes
from lowwater.model import tallies
from lowwater.testing import a_holder, a_module, a_step, a_tally, an_evidence

ONE_MODEL = a_tally(tallies.CALLS, "Model", each=0, where="train.py:9")
COMPILED = a_tally(tallies.CALLS, "compile", where="train.py:12")
FIT = a_tally(tallies.CALLS, "fit", where="train.py:13")


def a_registry():
    return a_holder(
        a_module("tensorflow.python.framework.ops"),
        a_step("._gradient_registry", "tensorflow.python.framework.registry.Registry"),
        a_step("._registry", "dict"),
        a_step("[*]", "function"),
        grows="._registry",
        is_users=False,
    )


def test_compile_in_every_epoch_drives_the_registry():
    [finding] = find_causes(an_evidence(a_registry(), ONE_MODEL, COMPILED, FIT))

    assert finding.code == "LW207"
    assert finding.message == (
        "The same model is compiled once every epoch. "
        "TensorFlow's gradient registry (LW205) keeps what each traced."
    )
    assert finding.where == "train.py:12"
    assert finding.library is None


def test_compile_that_a_census_missed_once_is_told_as_about_once():
    compiled = a_tally(tallies.CALLS, "compile", each=0.9, where="train.py:12")

    [finding] = find_causes(an_evidence(a_registry(), ONE_MODEL, compiled, FIT))

    assert finding.message.startswith("The same model is compiled about once every epoch. ")


def test_function_defined_inside_the_loop_is_found():
    functions = a_tally(tallies.FUNCTIONS, "step", where="train.py:20")
    traces = a_tally(tallies.TRACES, "step", where="train.py:20")

    [finding] = find_causes(an_evidence(functions, traces, unit="iteration"))

    assert finding.code == "LW207"
    assert finding.message == "`step` becomes a new `tf.function` once every iteration."
    assert finding.where == "train.py:20"


def test_new_optimizer_for_the_same_model_is_found():
    optimizers = a_tally(tallies.OPTIMIZERS, "Adam", where="train.py:11")

    [finding] = find_causes(an_evidence(a_registry(), ONE_MODEL, optimizers))

    assert finding.code == "LW207"
    assert finding.message == (
        "The same model gets one new optimizer every epoch. TensorFlow's gradient registry "
        "(LW205) keeps what each traced."
    )


def test_compile_of_every_new_model_is_innocent():
    made = a_tally(tallies.CALLS, "Model", where="train.py:9")

    findings = find_causes(an_evidence(a_registry(), made, COMPILED, FIT))

    assert [found.code for found in findings] == ["LW205"]


def test_function_of_every_new_trainer_is_innocent():
    made = a_tally(tallies.CALLS, "Model", where="train.py:9")
    functions = a_tally(tallies.FUNCTIONS, "Trainer.step", where="train.py:20")

    findings = find_causes(an_evidence(a_registry(), made, functions))

    assert [found.code for found in findings] == ["LW205"]


def test_optimizers_that_leave_no_graph_are_innocent():
    """`model.save` makes one each time, and throws it away; what stays are names of variables."""
    saved = a_tally(tallies.OPTIMIZERS, "optimizer", where="train.py:20")
    names = a_tally(tallies.CALLS, tallies.VARIABLE_NAMED, each=2, where="train.py:20")

    findings = find_causes(an_evidence(ONE_MODEL, saved, names, mib=0.07))

    assert [found.code for found in findings] == ["LW209"]


def test_functions_that_are_dropped_leave_nothing():
    """Only traces of functions that live are counted; growth beside them has another cause."""
    functions = a_tally(tallies.FUNCTIONS, "step", where="train.py:20")
    tables = a_tally(tallies.CALLS, tallies.TABLE, where="train.py:30")

    assert [f.code for f in find_causes(an_evidence(functions))] == ["LW404"]
    assert [f.code for f in find_causes(an_evidence(functions, tables))] == ["LW211"]


def test_compile_that_leaves_no_graph_is_innocent():
    assert [f.code for f in find_causes(an_evidence(ONE_MODEL, COMPILED))] == ["LW404"]


def test_compile_before_the_loop_is_innocent():
    once = a_tally(tallies.CALLS, "compile", each=0, where="train.py:12")

    assert [f.code for f in find_causes(an_evidence(ONE_MODEL, once, FIT))] == ["LW404"]
