"""LW209 in the source: random numbers that are drawn eagerly under a global seed."""

import pytest

from lowwater.testing import findings_in

HEAD = "import keras\nimport tensorflow as tf\n"
SEED = "tf.random.set_seed(42)\n"
LOOP = "for step in range(99):\n    noise = tf.random.normal((32, 8))\n"


def codes(text):
    return [one.code for one in findings_in(HEAD + text)]


def test_eager_draws_under_a_seed_are_found():
    [finding] = findings_in(HEAD + SEED + LOOP)

    assert (finding.code, finding.span.line) == ("LW209", 5)
    assert finding.message == (
        "`tf.random.normal` draws under a global seed in every iteration: TensorFlow keeps a new "
        "kernel for each call."
    )


@pytest.mark.parametrize(
    "text",
    [
        f"keras.utils.set_random_seed(1)\n{LOOP}",
        f"{SEED}def draw():\n    return tf.random.uniform((2,))\nfor n in range(99):\n    draw()\n",
    ],
)
def test_every_seed_and_draw_is_found(text):
    assert codes(text) == ["LW209"]


@pytest.mark.parametrize(
    "text",
    [
        LOOP,
        f"{SEED}noise = tf.random.normal((32, 8))\nfor step in range(99):\n    f(noise)\n",
        (
            f"{SEED}draws = tf.random.Generator.from_seed(1)\nfor step in range(99):\n"
            "    draws.normal((32, 8))\n"
        ),
        f"{SEED}for step in range(99):\n    tf.random.stateless_normal((2,), (1, step))\n",
        (
            f"{SEED}@tf.function\ndef step():\n    return tf.random.normal((2,))\n"
            "for n in range(99):\n    step()\n"
        ),
        (
            f"{SEED}def noise():\n    return tf.random.normal((2,))\n"
            "@tf.function\ndef step():\n    return noise()\nfor n in range(99):\n    step()\n"
        ),
        (
            f"{SEED}def noise(x):\n    return x + tf.random.normal((2,))\n"
            "for n in range(99):\n    noise(n)\ndata = tf.data.Dataset.range(9).map(noise)\n"
        ),
        (
            f"{SEED}def noise(x):\n    return x + tf.random.normal((2,))\n"
            "for n in range(99):\n    noise(n)\n"
            "data = tf.data.Dataset.range(9).map(lambda x: (noise(x), 1))\n"
        ),
        f"{SEED}noises = [tf.random.normal((size,)) for size in sizes]\n",
        (
            f"{SEED}class Noisy(keras.Model):\n    def train_step(self, data):\n"
            "        for _ in range(5):\n            tf.random.normal((2,))\n"
        ),
    ],
)
def test_draws_in_graphs_or_from_a_generator_are_acquitted(text):
    assert codes(text) == []


CHECK = "def check(batch):\n    return tf.py_function(is_finite, [batch], tf.bool)\n"


def test_an_eager_py_function_in_a_loop_is_found():
    [finding] = findings_in(f"{HEAD}{CHECK}for step in range(99):\n    check(batch)\n")

    assert (finding.code, finding.span.line) == ("LW209", 4)
    assert finding.message == (
        "`tf.py_function` runs eagerly in every iteration: TensorFlow keeps a new kernel for each "
        "call."
    )


@pytest.mark.parametrize(
    "text",
    [
        f"{CHECK}check(batch)\n",
        f"{CHECK.replace('tf.py_', 'tf.numpy_')}for step in range(99):\n    check(batch)\n",
        f"{CHECK}data = data.map(check)\nfor step in range(99):\n    check(batch)\n",
        f"@tf.function\n{CHECK}for step in range(99):\n    check(batch)\n",
        f"{CHECK}for name in names:\n    check(name)\n",
    ],
)
def test_a_py_function_in_a_graph_or_called_once_is_acquitted(text):
    assert codes(f"data = tf.data.Dataset.range(9)\n{text}") == []
