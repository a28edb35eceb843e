"""LW206 in the source: the state of Keras is cleared while a model is in use."""

import pytest

from lowwater.testing import findings_in

HEAD = "import keras\nfrom keras import backend as K\nmodel = keras.Sequential([])\n"


def codes(text):
    return [one.code for one in findings_in(text)]


def test_clearing_between_the_epochs_of_one_model_is_found():
    [finding] = findings_in(
        f"{HEAD}for epoch in range(9):\n    model.fit(x, y)\n    K.clear_session()\n"
    )

    assert (finding.code, finding.span.line) == ("LW206", 6)
    assert finding.message == (
        "`clear_session()` is called in every iteration while `model` is still in use."
    )


def test_clearing_in_a_callback_is_found():
    text = """
    import keras
    class Clean(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            keras.utils.clear_session()
    """
    [finding] = findings_in(text)

    assert "in every epoch while the model" in finding.message
    assert codes(text.replace("on_epoch_end(self, epoch", "on_train_end(self")) == []


def test_clearing_in_a_helper_that_the_loop_calls_is_found():
    text = (
        "def clean():\n    keras.utils.clear_session()\n"
        "class Trainer:\n    def __init__(self):\n        self.net = keras.Sequential([])\n"
        "    def run(self):\n        for epoch in range(9):\n"
        "            self.net.train_on_batch(x, y)\n            clean()\n"
    )

    assert codes(HEAD + text) == ["LW206"]


@pytest.mark.parametrize(
    "text",
    [
        (
            "for fold in range(9):\n    model = keras.Sequential([])\n    model.fit(x, y)\n"
            "    K.clear_session()"
        ),
        (
            "for n in range(9):\n    K.clear_session()\n    net = keras.models.load_model(n)\n"
            "    net.predict(x)"
        ),
        "for epoch in range(9):\n    model.fit(x, y)\nK.clear_session()",
        (
            "for epoch in range(9):\n    model.fit(x, y)\n    if epoch == 8:\n"
            "        K.clear_session()\n        break"
        ),
        "for name in names:\n    other(name)\n    K.clear_session()",
        (
            "def build(n):\n    K.clear_session()\n    return keras.Sequential([])\n"
            "for n in range(9):\n    build(n).predict(x)"
        ),
        "for model in models:\n    model.predict(x)\n    K.clear_session()",
    ],
)
def test_clearing_between_models_is_acquitted(text):
    assert [one for one in codes(HEAD + text) if one != "LW205"] == []
