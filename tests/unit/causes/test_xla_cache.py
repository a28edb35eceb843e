from lowwater.causes.catalogue import find_causes
from lowwater.model import tallies
from lowwater.testing import a_holder, a_module, a_step, a_tally, an_evidence

COMPILED = a_tally(tallies.CALLS, tallies.XLA, where="train.py:13")
MADE = a_tally(tallies.CALLS, "Model", where="train.py:9")
ONE_MODEL = a_tally(tallies.CALLS, "Model", each=0, where="train.py:9")
SHAPES = a_tally(tallies.SHAPES, "predict", each=12, where="serve.py:13")


def codes(*seen):
    return [found.code for found in find_causes(an_evidence(*seen))]


def test_models_that_are_compiled_and_thrown_away_leave_their_programs():
    [finding] = find_causes(an_evidence(COMPILED, MADE, unit="model"))

    assert finding.code == "LW210"
    assert finding.message == (
        "A new model is compiled by XLA once with every model built, and TensorFlow keeps every "
        "program. A leak in tensorflow (reported on 2.16, measured on 2.21; no release without "
        "it is known); reported as tensorflow/tensorflow#64170."
    )
    assert (finding.where, finding.holder) == ("train.py:13", "tensorflow XLA cache")


def test_function_that_is_compiled_in_every_round_is_found():
    [finding] = find_causes(an_evidence(COMPILED))

    assert finding.message.startswith("A new function is compiled by XLA once every epoch,")


def test_clearing_the_session_compiles_a_living_model_again():
    cleared = a_tally(tallies.CALLS, "clear_session", where="train.py:14")
    fit = a_tally(tallies.CALLS, "fit", where="train.py:13")
    once = a_tally(tallies.CALLS, tallies.XLA, each=0, where="train.py:13")

    finding, beside = find_causes(an_evidence(once, fit, ONE_MODEL, cleared))

    assert (finding.code, beside.code, beside.share) == ("LW210", "LW206", None)
    assert finding.message.startswith(
        "After `clear_session()` XLA compiles the same model again, once every epoch, "
        "and TensorFlow keeps every program."
    )
    assert finding.where == "train.py:14"
    assert finding.fix.startswith("Do not call `clear_session()`")


def test_clearing_under_a_model_that_is_not_compiled_is_not_of_xla():
    cleared = a_tally(tallies.CALLS, "clear_session", where="train.py:14")
    fit = a_tally(tallies.CALLS, "fit", where="train.py:13")

    assert codes(fit, ONE_MODEL, cleared) == ["LW404", "LW206"]


def test_compiled_model_that_is_given_new_shapes_is_compiled_for_each():
    once = a_tally(tallies.CALLS, tallies.XLA, each=0, where="serve.py:13")

    [finding] = find_causes(an_evidence(SHAPES, once))

    assert finding.code == "LW210"
    assert finding.message.startswith(
        "`predict` gets 12 new shapes every epoch, and XLA compiles and keeps a program for each"
    )


def test_shapes_of_a_call_that_compiles_nothing_are_not_of_xla():
    elsewhere = a_tally(tallies.CALLS, tallies.XLA, each=0, where="serve.py:3")

    assert codes(SHAPES, elsewhere) == ["LW209"]


def test_function_that_was_compiled_once_is_innocent():
    assert codes(a_tally(tallies.CALLS, tallies.XLA, each=0, where="train.py:13")) == ["LW404"]


def test_trained_models_are_the_registrys_first_and_xla_is_told_beside_it():
    registry = a_holder(
        a_module("tensorflow.python.framework.ops"),
        a_step("._gradient_registry", "tensorflow.python.framework.registry.Registry"),
        a_step("._registry", "dict"),
        grows="._registry",
        is_users=False,
    )

    first, second = find_causes(an_evidence(registry, COMPILED, MADE, unit="model"))

    assert (first.code, second.code, second.share) == ("LW205", "LW210", None)
    assert second.message.startswith("XLA also compiled each of these")
