"""LW208 in the source: tapes that outlive their step."""

import pytest

from lowwater.testing import findings_in

HEAD = "import tensorflow as tf\ntapes = []\n"
STEP = "    with tf.GradientTape(persistent=True) as tape:\n        loss = f(x)\n"


def codes(text):
    return [one.code for one in findings_in(text)]


def test_kept_tapes_are_found():
    [finding] = findings_in(f"{HEAD}for x in batches:\n{STEP}    tapes.append(tape)\n")

    assert (finding.code, finding.span.line) == ("LW208", 6)
    assert finding.message == "`tapes` keeps the tape of every iteration."


@pytest.mark.parametrize(
    "text",
    [
        f"for x in batches:\n{STEP}    tapes.append((tape, loss))\n",
        f"for n, x in enumerate(batches):\n{STEP}    by_step[n] = tape\n",
        (
            "class Step:\n    def __init__(self):\n        self.tape = tf.GradientTape()\n"
            "for x in batches:\n    step = Step()\n    tapes.append(step)\n"
        ),
    ],
)
def test_every_way_to_keep_one_is_found(text):
    assert "LW208" in codes(f"{HEAD}by_step = {{}}\n{text}")


@pytest.mark.parametrize(
    "text",
    [
        f"for x in batches:\n{STEP}    gradients = tape.gradient(loss, v)\n    del tape\n",
        f"for x in batches:\n{STEP}    tapes.append(float(loss))\n",
        f"for x in batches:\n{STEP}    tapes.append(tape)\n    tapes.pop(0)\n",
        f"for x in batches[:3]:\n    tapes = []\n{STEP}    tapes.append(tape)\n",
        (
            "from collections import deque\ntapes = deque(maxlen=2)\n"
            f"for x in batches:\n{STEP}    tapes.append(tape)\n"
        ),
    ],
)
def test_tapes_that_end_are_acquitted(text):
    assert codes(HEAD + text) == []


def test_a_tape_that_no_block_ends_is_found():
    text = "import tensorflow as tf\ntape = tf.GradientTape()\ntape.__enter__()\n"

    assert codes(text) == ["LW208"]
    assert codes(f"{text}step()\ntape.__exit__(None, None, None)\n") == []
