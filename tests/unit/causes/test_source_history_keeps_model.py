"""LW103 in the source: `History` objects that are kept, and the models in them."""

import pytest

from lowwater.testing import findings_in

BUILD = """
import keras

def build(units):
    return keras.Sequential([keras.layers.Dense(units)])
"""


def codes(text):
    return {one.code for one in findings_in(BUILD + text)} - {"LW205"}


def test_histories_of_new_models_are_found():
    found = findings_in(
        """
        import keras
        class Comparison:
            def __init__(self):
                self.histories = {}
            def run(self, name):
                model = keras.Sequential([])
                history = model.fit(x, y, epochs=3)
                self.histories[name] = history
        comparison = Comparison()
        for number in range(10):
            comparison.run(f"run {number}")
        """
    )

    [finding] = [one for one in found if one.code == "LW103"]
    assert finding.span.line == 8
    assert finding.message == (
        "`self.histories` keeps the `History` of every iteration, and with it the whole model."
    )
    assert finding.fix == (
        "Keep the numbers, not the object: `self.histories[name] = history.history`."
    )


@pytest.mark.parametrize(
    "text",
    [
        "kept = []\nfor n in range(9):\n    kept.append(build(n).fit(x, y))",
        "kept = []\nfor n in range(9):\n    model = build(n)\n    kept += [model.fit(x, y)]",
        (
            "def train(n):\n    model = build(n)\n    return model.fit(x, y)\n"
            "kept = {}\nfor n in range(9):\n    kept[n] = train(n)"
        ),
        (
            "def train(model):\n    return model.fit(x, y)\n"
            "kept = []\nfor n in range(9):\n    model = build(n)\n    kept.append(train(model))"
        ),
    ],
)
def test_every_way_to_keep_one_is_found(text):
    assert "LW103" in codes(text)


@pytest.mark.parametrize(
    "text",
    [
        "kept = []\nfor n in range(9):\n    kept.append(build(n).fit(x, y).history)",
        "kept = []\nmodel = build(1)\nfor n in range(9):\n    kept.append(model.fit(x, y))",
        "kept = []\nfor n in (1, 2, 3):\n    kept.append(build(n).fit(x, y))",
        "kept = []\nfor n in range(9):\n    kept.append(build(n).fit(x, y))\n    kept.clear()",
        "for n in range(9):\n    kept = []\n    kept.append(build(n).fit(x, y))",
        "kept = {}\nfor n in range(9):\n    kept['last'] = build(n).fit(x, y)",
        (
            "from collections import deque\nkept = deque(maxlen=3)\n"
            "for n in range(9):\n    kept.append(build(n).fit(x, y))"
        ),
    ],
)
def test_what_keeps_no_model_of_each_round_is_acquitted(text):
    assert codes(text) == set()


def test_name_of_the_history_may_be_a_part_of_the_name_of_its_container():
    found = findings_in(
        BUILD
        + "histories = []\nfor n in range(9):\n    h = build(n).fit(x, y)\n    histories.append(h)"
    )

    [finding] = [one for one in found if one.code == "LW103"]
    assert finding.fix == "Keep the numbers, not the object: `histories.append(h.history)`."
