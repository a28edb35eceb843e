"""LW201 and LW205 in the source: models that a loop builds, keeps or trains."""

import inspect

import pytest

from lowwater.testing import findings_in

HELPER = """
import tensorflow as tf

def build(units):
    model = tf.keras.Sequential([tf.keras.layers.Dense(units)])
    model.compile("adam", "mse")
    return model
"""


def codes(text, **modules):
    return [one.code for one in findings_in(text, **modules)]


def test_models_of_a_helper_in_another_file_that_are_kept_are_found():
    text = """
    from helper import build
    kept = []
    for units in range(16, 512, 16):
        model = build(units)
        kept.append(model)
    """
    [finding] = findings_in(text, helper=HELPER)

    assert (finding.code, finding.span.line) == ("LW201", 5)
    assert finding.message == "`kept` keeps the model of every iteration."


def test_model_that_a_helper_returns_with_its_score_is_found():
    text = """
    import helper
    def trained(units):
        model = helper.build(units)
        return model, 0.5

    kept = []
    for units in widths:
        model, score = trained(units)
        kept.append(model)
        scores.append(score)
    """
    assert codes(text, helper=HELPER) == ["LW201"]
    assert codes(text.replace("kept.append(model)", "kept.append(score)"), helper=HELPER) == []


@pytest.mark.parametrize(
    "text",
    [
        "kept = []\nfor units in widths:\n    kept.append(build(units))\n    kept.pop(0)",
        "for units in widths:\n    kept = []\n    kept.append(build(units))",
        "for x in y:\n    kept = []\n    for units in widths:\n        kept.append(build(units))",
        "kept = []\nfor units in (1, 2, 3):\n    kept.append(build(units))",
        "kept = []\nmodel = build(1)\nfor units in widths:\n    kept.append(model)",
        "best = {}\nfor units in widths:\n    best['model'] = build(units)",
        "kept = []\nfor units in widths:\n    kept.append(build(units).count_params())",
        (
            "kept = []\nfor units in widths:\n    if good(units):\n"
            "        kept.append(build(units))\n        break"
        ),
    ],
)
def test_models_that_are_not_kept_are_acquitted(text):
    assert codes(f"from helper import build\n{text}", helper=HELPER) == []


def test_models_trained_in_a_loop_of_another_file_are_found():
    text = """
    import helper
    scores = []
    for fold in range(10):
        scores.append(score(helper.build(fold)))

    def score(model):
        model.fit(x, y)
        return min(model.evaluate(x, y))
    """
    [finding] = findings_in(text, helper=HELPER)

    assert (finding.code, finding.span.line) == ("LW205", 4)
    assert "lowwater.mend()" in finding.fix


@pytest.mark.parametrize(
    ("before", "inside"),
    [
        ("import lowwater\nlowwater.mend()", "model.fit(x, y)"),
        ("", "model(x)"),
        ("", "model.compile('adam', 'mse', run_eagerly=True)\n    model.fit(x, y)"),
    ],
)
def test_what_leaves_nothing_in_the_registry_is_acquitted(before, inside):
    text = f"from helper import build\n{before}\nfor fold in range(10):\n    model = build(fold)\n"

    assert codes(f"{text}    {inside}\n", helper=HELPER) == []
    assert codes(f"{text}    model.fit(x, y)\n", helper=HELPER) == ([] if before else ["LW205"])


def test_one_model_that_is_trained_in_a_loop_is_acquitted():
    text = (
        "import keras\nmodel = keras.Sequential([])\nfor fold in range(10):\n    model.fit(x, y)\n"
    )

    assert codes(text) == []


@pytest.mark.parametrize(
    "text",
    [
        """
        class Net(keras.Model):
            def __init__(self):
                self.blocks = []
                for n in range(9):
                    self.blocks.append(keras.Sequential([]))
        """,
        """
        def net(x):
            blocks = []
            for n in range(9):
                blocks.append(keras.Sequential([]))
            for block in blocks:
                x = block(x)
            return blocks[0](x)
        """,
        """
        class Generator:
            def __init__(self, sizes):
                self.blocks = []
                for size in sizes:
                    self.blocks.append(keras.Sequential([]))
        """,
        """
        def net(sizes):
            blocks = []
            for size in sizes:
                blocks.append(keras.Sequential([]))
            return keras.Sequential(*blocks)
        """,
        """
        import tensorflow as tf

        class Heads(tf.Module):
            def make(self, sizes):
                heads = []
                for size in sizes:
                    heads.append(keras.Sequential([]))
                return heads
        """,
    ],
)
def test_parts_of_one_model_are_acquitted(text):
    assert codes(f"import keras\n{inspect.cleandoc(text)}") == []


def test_model_that_is_built_beside_the_one_that_is_trained_is_acquitted():
    text = """
    from helper import build
    def score():
        return build(1).evaluate(x, y)

    model = build(1)
    for epoch in range(99):
        model.fit(x, y)
        print(score())
    """
    assert codes(text, helper=HELPER) == []
