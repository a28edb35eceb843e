from lowwater.causes.catalogue import find_causes
from lowwater.testing import a_holder, a_model, a_module, a_step, an_array, an_evidence

CALLBACK = "keras.src.callbacks.callback.Callback"


def a_history(edge="[*]"):
    return a_step(edge, "keras.src.callbacks.history.History", CALLBACK)


def test_list_of_histories_keeps_models():
    held = a_holder(
        a_module(),
        a_step(".runs", "list"),
        a_history(),
        a_model(".model"),
        grows=".runs",
        added_at="train.py:26",
    )

    [finding] = find_causes(an_evidence(held, unit="model"))

    assert finding.code == "LW103"
    assert finding.message == (
        "`runs` grows by one `History` object with every model built, "
        "and each keeps its whole model through `.model`."
    )
    assert finding.where == "train.py:26"
    assert finding.fix == "Keep the numbers, not the object: `runs.append(history.history)`."


def test_history_in_a_tuple_is_found():
    held = a_holder(
        a_module(),
        a_step(".runs", "list"),
        a_step("[*]", "tuple"),
        a_history("[1]"),
        a_model(".model"),
        grows=".runs",
    )

    assert [found.code for found in find_causes(an_evidence(held))] == ["LW103"]


def test_logs_that_hold_arrays_are_found_in_the_history_itself():
    held = a_holder(
        a_module(),
        a_history(".history"),
        a_step(".history", "dict"),
        a_step("['confusion']", "list"),
        an_array(),
        grows="['confusion']",
    )

    [finding] = find_causes(an_evidence(held))

    assert finding.code == "LW103"
    assert finding.message == (
        "`History.history['confusion']` grows by one float32 array (4096, 256) every epoch: "
        "the logs of `fit` hold data."
    )


def test_history_with_scalar_metrics_is_too_small_to_be_told_beside_a_cause():
    scalars = a_holder(
        a_module(),
        a_history(".history"),
        a_step(".history", "dict"),
        a_step("['loss']", "list"),
        a_step("[*]", "float"),
        grows="['loss']",
        mib=0.0001,
    )
    seen = a_holder(a_module(), a_step(".seen", "list"), an_array(), grows=".seen", mib=3.9)

    assert [found.code for found in find_causes(an_evidence(scalars, seen))] == ["LW102"]


def test_list_of_plain_dicts_is_no_history():
    held = a_holder(
        a_module(), a_step(".runs", "list"), a_step("[*]", "dict"), grows=".runs", mib=4
    )

    assert [found.code for found in find_causes(an_evidence(held))] == ["LW102"]
