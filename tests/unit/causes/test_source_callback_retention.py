"""LW101 in the source: a callback adds arrays or models in each round."""

import pytest

from lowwater.testing import findings_in


def a_callback(body, start="self.kept = []", more=""):
    return f"""
import numpy as np
from tensorflow import keras
from collections import deque

class Keep(keras.callbacks.Callback):
    def __init__(self, x):
        super().__init__()
        self.x = x
        {start}

    def on_epoch_end(self, epoch, logs=None):
        {body}
{more}
"""


def codes(text, **modules):
    return [one.code for one in findings_in(text, **modules)]


def test_predictions_that_are_appended_are_found():
    [finding] = findings_in(a_callback("self.kept.append(self.model.predict(self.x))"))

    assert (finding.code, finding.span.line, finding.span.column) == ("LW101", 12, 9)
    assert finding.message == "`self.kept` keeps the predictions of every epoch."
    assert finding.label == "an array per epoch, for as long as the callback lives"


@pytest.mark.parametrize(
    "body",
    [
        "self.kept += [self.model.predict(self.x)]",
        "self.kept.append((epoch, self.model.get_weights()))",
        "self.kept.append({'epoch': epoch, 'model': self.model})",
        "self.kept.insert(0, np.asarray(self.model(self.x)))",
        "p = self.model.predict(self.x)\n        self.kept.append(p.copy())",
        "if epoch % 5 == 0:\n            self.kept.append(self.model.predict(self.x))",
    ],
)
def test_other_ways_to_keep_are_found(body):
    assert codes(a_callback(body)) == ["LW101"]


@pytest.mark.parametrize(
    "body",
    [
        "self.kept[epoch] = self.model.predict(self.x)",
        "self.kept.setdefault('all', []).append(self.model.predict(self.x))",
        "self.kept.update({epoch: self.model.get_weights()})",
    ],
)
def test_dicts_by_epoch_are_found(body):
    assert codes(a_callback(body, "self.kept = {}")) == ["LW101"]


@pytest.mark.parametrize(
    ("body", "start"),
    [
        ("self.kept.append(float(self.model.predict(self.x).mean()))", "self.kept = []"),
        ("self.kept.append(self.model.predict(self.x).mean())", "self.kept = []"),
        ("self.kept.append(logs['loss'])", "self.kept = []"),
        ("self.kept.append(self.model.predict(self.x))", "self.kept = deque(maxlen=3)"),
        ("self.kept['last'] = self.model.predict(self.x)", "self.kept = {}"),
        ("self.kept[epoch % 3] = self.model.predict(self.x)", "self.kept = {}"),
        (
            "if epoch == 3:\n            self.kept.append(self.model.get_weights())",
            "self.kept = []",
        ),
        (
            "self.kept.append(self.model.predict(self.x))\n        del self.kept[:-3]",
            "self.kept = []",
        ),
        (
            "self.kept.append(self.model.predict(self.x))\n        self.kept = self.kept[-3:]",
            "self.kept = []",
        ),
        (
            (
                "self.kept.append(self.model.predict(self.x))\n"
                "        if len(self.kept) > 3:\n            self.kept.pop(0)"
            ),
            "self.kept = []",
        ),
        (
            (
                "for layer in self.model.layers:\n"
                "            self.kept[layer.name] = layer.get_weights()"
            ),
            "self.kept = {}",
        ),
        ("kept = []\n        kept.append(self.model.predict(self.x))", "pass"),
    ],
)
def test_bounded_or_small_data_are_acquitted(body, start):
    assert codes(a_callback(body, start)) == []


def test_what_another_method_empties_is_acquitted():
    more = """
    def on_epoch_begin(self, epoch, logs=None):
        self.kept = []
"""
    assert codes(a_callback("self.kept.append(self.model.predict(self.x))", more=more)) == []


def test_what_is_done_once_in_a_training_is_acquitted():
    text = a_callback("pass").replace("on_epoch_end", "on_train_end")
    text = text.replace("pass", "self.kept.append(self.model.predict(self.x))")

    assert codes(text) == []


def test_helper_of_the_callback_is_followed():
    more = """
    def save(self):
        self.kept.append(self.model.predict(self.x))
"""
    assert codes(a_callback("self.save()", more=more)) == ["LW101"]


def test_base_class_in_another_file_is_followed():
    text = """
    from base import Base

    class Keep(Base):
        def on_epoch_end(self, epoch, logs=None):
            self.kept.append(self.model.predict(self.x))
    """
    base = """
    import keras

    class Base(keras.callbacks.Callback):
        def __init__(self):
            self.kept = []
    """
    assert codes(text, base=base) == ["LW101"]
    assert codes(text, base=base.replace("[]", "BoundedList()")) == ["LW101"]
    assert codes(text, base=base.replace("keras.callbacks.Callback", "object")) == []


def test_class_that_is_no_callback_is_acquitted():
    text = a_callback("self.kept.append(self.model.predict(self.x))")

    assert codes(text.replace("keras.callbacks.Callback", "keras.layers.Layer")) == []


def test_lambda_callback_is_read():
    text = """
    import keras
    kept = []
    keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: kept.append(model.get_weights())
    )
    model = keras.Sequential([])
    """
    assert codes(text) == ["LW101"]
    assert codes(text.replace("on_epoch_end", "on_train_end")) == []
