"""LW305 in the source: a `py_function` that a tape records, and nothing computes its gradient."""

import pytest

from lowwater.testing import findings_in

HEAD = "import tensorflow as tf\ndef log(x):\n    print(x)\n"
TAPE = "with tf.GradientTape() as tape:\n    y = model(x)\n    "


def codes(text):
    return [one.code for one in findings_in(HEAD + text)]


def test_a_logger_under_the_tape_is_found():
    [finding] = findings_in(HEAD + TAPE + "tf.py_function(log, [y], [])\n")

    assert (finding.code, finding.span.line) == ("LW305", 6)


def test_a_logger_that_is_called_under_the_tape_is_found():
    text = "def note(y):\n    tf.py_function(log, [y], [])\n" + TAPE + "note(y)\n"

    assert codes(text) == ["LW305"]


@pytest.mark.parametrize(
    "text",
    [
        TAPE + "with tape.stop_recording():\n        tf.py_function(log, [y], [])\n",
        TAPE + "tf.numpy_function(log, [y], [])\n",
        # The loss may depend on it, and then its gradient is computed.
        TAPE + "loss = tf.py_function(log, [y], tf.float32)\n",
        TAPE + "pass\ntf.py_function(log, [y], [])\n",
        "def note(y):\n    tf.py_function(log, [y], [])\nnote(3)\n",
    ],
)
def test_what_no_tape_waits_for_is_not_found(text):
    assert codes(text) == []
