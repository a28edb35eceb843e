from lowwater.causes.catalogue import find_causes
from lowwater.testing import (
    a_holder,
    a_model,
    a_module,
    a_running_call,
    a_step,
    an_array,
    an_evidence,
)

CALLBACK = "keras.src.callbacks.callback.Callback"
CALLBACK_LIST = a_step(
    "local callbacks", "keras.src.callbacks.callback_list.CallbackList", CALLBACK
)


def save_predictions(edge="[*]"):
    return a_step(edge, "__main__.SavePredictions", CALLBACK, where="train.py:6")


def test_callback_that_keeps_an_array_per_epoch_is_found():
    held = a_holder(
        a_running_call(),
        CALLBACK_LIST,
        save_predictions(),
        a_step(".saved", "list", about="8 items"),
        an_array(),
        grows=".saved",
        added_at="train.py:14",
        is_users=False,
    )

    [finding] = find_causes(an_evidence(held))

    assert finding.code == "LW101"
    assert finding.name == "callback-retention"
    assert finding.message == (
        "`SavePredictions.saved` grows by one float32 array (4096, 256) every epoch."
    )
    assert finding.where == "train.py:14"
    assert finding.holder == "SavePredictions.saved"
    assert finding.share == 1.0
    assert finding.bytes_per_unit == 4 << 20
    assert finding.library is None


def test_callback_that_keeps_data_in_an_object_of_its_own_is_found():
    held = a_holder(
        a_module(),
        save_predictions(".recorder"),
        a_step(".buffer", "__main__.Buffer", where="train.py:2"),
        a_step(".items", "dict"),
        an_array("['val']"),
        grows=".items",
        items=3,
    )

    [finding] = find_causes(an_evidence(held))

    assert finding.code == "LW101"
    assert finding.message == ("`Buffer.items` grows by 3 float32 arrays (4096, 256) every epoch.")
    assert finding.where == "train.py:2", "the line that adds is unknown: the nearest class"


def test_legacy_callback_is_a_callback_too():
    legacy = a_step("[*]", "__main__.Log", "tf_keras.src.callbacks.Callback", where="train.py:3")
    held = a_holder(a_running_call(), legacy, a_step(".rows", "list"), an_array(), grows=".rows")

    assert [found.code for found in find_causes(an_evidence(held))] == ["LW101"]


def test_list_of_the_model_is_not_the_callbacks():
    held = a_holder(
        a_running_call(),
        CALLBACK_LIST,
        save_predictions(),
        a_model(".model"),
        a_step(".kept", "list"),
        an_array(),
        grows=".kept",
    )

    [finding] = find_causes(an_evidence(held))

    assert finding.code == "LW102"
    assert finding.holder == "Sequential.kept"


def test_class_that_is_only_called_callback_is_not_one():
    impostor = a_step(".c", "__main__.Callback", where="train.py:3")
    held = a_holder(a_module(), impostor, a_step(".rows", "list"), an_array(), grows=".rows")

    assert [found.code for found in find_causes(an_evidence(held))] == ["LW102"]
