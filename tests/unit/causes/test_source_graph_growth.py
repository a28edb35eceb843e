"""LW203 in the source: operations that a loop adds to a graph."""

import pytest

from lowwater.testing import findings_in

HEAD = "import tensorflow.compat.v1 as tf\nx = tf.placeholder(tf.float32)\nsession = tf.Session()\n"


def codes(text):
    return [one.code for one in findings_in(HEAD + text)]


def test_an_operation_in_the_loop_of_a_session_is_found():
    text = "for step in range(99):\n    best = session.run(tf.reduce_max(x), feed)\n"
    [finding] = findings_in(HEAD + text)

    assert (finding.code, finding.span.line) == ("LW203", 5)
    assert finding.message == ("`tf.reduce_max` adds an operation to the graph in every iteration.")


@pytest.mark.parametrize(
    "text",
    [
        "while True:\n    session.run(tf.assign(rate, 0.1))\n",
        "for step in range(99):\n    error = tf.sqrt(x)\n    session.run(error)\n",
        (
            "def epoch(sess, batches):\n    for batch in batches:\n"
            "        sess.run(tf.assign(rate, 0.1))\n"
            "for number in range(99):\n    epoch(session, data)\n"
        ),
    ],
)
def test_every_way_to_add_one_is_found(text):
    assert codes(text) == ["LW203"]


@pytest.mark.parametrize(
    "text",
    [
        "best = tf.reduce_max(x)\nfor step in range(99):\n    session.run(best)\n",
        "for depth in range(9):\n    x = tf.nn.relu(x)\nsession.run(x)\n",
        # A static method has no `self`: what it is given is not moved by one place.
        (
            "class Net:\n    @staticmethod\n    def run(f, other):\n"
            "        for step in range(99):\n            session.run(x)\n            other.run(x)\n"
            "Net.run(tf.square, None)\n"
        ),
        # Methods run what is there.
        "cost = tf.square(x)\nfor step in range(99):\n    session.run(x)\n    cost.eval()\n",
        (
            "for step in range(99):\n    with tf.Graph().as_default():\n"
            "        session.run(tf.reduce_max(x))\n"
        ),
        "for step in range(99):\n    tf.reset_default_graph()\n    session.run(tf.sqrt(x))\n",
        "for v in tf.trainable_variables():\n    session.run(tf.assign(v, values[v.name]))\n",
        "for step in range(99):\n    worker.run(tf.sqrt(x))\n",
        "for step in range(99):\n    session.run(best, {x: np.sqrt(step)})\n",
    ],
)
def test_operations_that_are_made_once_are_acquitted(text):
    assert codes(f"import numpy as np\n{text}") == []
