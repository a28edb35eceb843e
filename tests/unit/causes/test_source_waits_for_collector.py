"""LW108 in the source: garbage that waits, or is never collected."""

import pytest

from lowwater.testing import findings_in

HEAD = "import gc\nimport keras\nimport numpy as np\nmodel = keras.Sequential([])\n"


def codes(text):
    return [one.code for one in findings_in(HEAD + text)]


def test_a_collector_that_stays_off_is_found():
    [finding] = findings_in(f"{HEAD}gc.disable()\nmodel.fit(x, y)\n")

    assert (finding.code, finding.span.line) == ("LW108", 5)
    assert finding.message == "Garbage collection is switched off and never on again."
    assert codes("from gc import disable\ndisable()\n") == ["LW108"]


@pytest.mark.parametrize(
    "text",
    [
        "gc.disable()\ntry:\n    model.fit(x, y)\nfinally:\n    gc.enable()\n",
        "gc.disable()\nfor n in range(99):\n    model.fit(x, y)\n    gc.collect()\n",
        "import weakref\ngc.disable()\nparent = weakref.ref(node)\n",
        "logging.disable()\n",
    ],
)
def test_a_collector_that_comes_back_is_acquitted(text):
    assert codes(text) == []


@pytest.mark.parametrize(
    "one",
    [
        "x[None]",
        "x[np.newaxis, ...]",
        "x[n : n + 1]",
        "np.expand_dims(x, 0)",
        "np.expand_dims(x, axis=0)",
        "x.reshape(1, -1)",
        "np.reshape(x, (1, 4))",
        "np.array([x])",
        "np.asarray(x[None])",
    ],
)
def test_predict_for_one_sample_in_a_loop_is_found(one):
    [finding] = findings_in(f"{HEAD}for n in range(99):\n    model.predict({one})\n")

    assert finding.code == "LW108"
    assert finding.message == "`model.predict` is called with one sample in every iteration."
    assert "`model(x)`" in finding.fix


def test_predict_for_one_sample_in_a_helper_is_found():
    text = (
        "def act(state):\n    state = np.expand_dims(state, 0)\n"
        "    return np.argmax(model.predict(state)[0])\n"
    )

    assert codes(f"{text}for n in range(99):\n    act(states[n])\n") == ["LW108"]
    assert codes(f"{text}act(states[0])\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "for n in range(99):\n    model.predict(x)\n",
        "for n in range(99):\n    model.predict(x[n : n + 32])\n",
        "for n in range(99):\n    model(x[None])\n",
        "for n in range(99):\n    model.predict([x])\n",
        "for n in range(99):\n    model.predict(np.array([x, y]))\n",
        "for n in range(99):\n    model.predict(x.reshape(-1, 4))\n",
        "for n in range(99):\n    forest.predict(x[None])\n",
        "model.predict(x[None])\n",
        "while True:\n    model.predict(x[None])\n    break\n",
    ],
)
def test_predict_for_batches_or_once_is_acquitted(text):
    assert codes(text) == []
