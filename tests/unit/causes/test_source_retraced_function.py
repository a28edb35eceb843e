"""LW202 in the source: Python numbers that a traced function is given."""

import pytest

from lowwater.testing import findings_in

STEP = """
import tensorflow as tf

@tf.function
def step(x, rate):
    return x * rate
"""


def codes(text, **modules):
    return [one.code for one in findings_in(text, **modules)]


def test_number_of_the_round_is_found():
    [finding] = findings_in(f"{STEP}\nfor n in range(1000):\n    step(x, n / 1000)\n")

    assert (finding.code, finding.span.line, finding.span.column) == ("LW202", 8, 13)
    assert finding.fix == "Pass a tensor: `tf.constant(n / 1000)`."


@pytest.mark.parametrize(
    "loop",
    [
        "rate = 1.0\nfor n in range(9):\n    rate *= 0.9\n    step(x, rate)",
        "for n, x in enumerate(data):\n    step(x, rate=n)",
        "other = tf.function(lambda x, n: x)\nfor n in range(9):\n    other(x, n)",
    ],
)
def test_other_numbers_are_found(loop):
    assert codes(f"{STEP}\n{loop}\n") == ["LW202"]


@pytest.mark.parametrize(
    "loop",
    [
        "for n in range(1000):\n    step(x, tf.constant(n / 1000))",
        "for n in range(1000):\n    step(x, 0.5)",
        "rate = 0.5\nfor n in range(1000):\n    step(x, rate)",
        "for n in (1, 2):\n    step(x, n)",
        "for n in tf.range(1000):\n    step(x, n)",
        "for x, y in data:\n    step(x, y)",
        "for n, (x, y) in enumerate(data):\n    step(x, y)",
        "step(x, 3)",
    ],
)
def test_tensors_and_constants_are_acquitted(loop):
    assert codes(f"{STEP}\n{loop}\n") == []


def test_function_that_is_not_traced_is_acquitted():
    text = f"{STEP}\nfor n in range(1000):\n    step(x, n)\n"

    assert codes(text.replace("@tf.function", "")) == []


def test_number_that_jax_is_given_is_acquitted():
    text = "import jax\n@jax.jit\ndef step(x, n):\n    return x * n\n# tf.function\n"

    assert codes(f"{text}for n in range(9):\n    step(x, n)\n") == []


def test_function_of_another_file_is_followed():
    text = "import steps\nfor n in range(9):\n    steps.step(x, n)\n"

    assert codes(text, steps=STEP) == ["LW202"]
    assert codes(text, steps=STEP.replace("@tf.function", "")) == []
