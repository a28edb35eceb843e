"""LW104 in the source: kept functions that refer to data, and default values that gather it."""

import pytest

from lowwater.testing import findings_in

HEAD = "import functools\nimport numpy as np\nfrom collections import deque\njobs = []\n"


def codes(text):
    return [one.code for one in findings_in(f"{HEAD}import tensorflow\n{text}")]


def in_function(body, loop="for n in range(99):\n    step(n)\n"):
    return f"def step(n):\n    data = np.zeros((n, 9))\n{body}{loop}"


def test_a_kept_lambda_that_refers_to_data_is_found():
    text = HEAD + "import tensorflow\n" + in_function("    jobs.append(lambda: data.mean())\n")
    [finding] = findings_in(text)

    assert (finding.code, finding.span.line) == ("LW104", 8)
    assert finding.message == (
        "`jobs` keeps a function of every iteration, and each keeps its `data`."
    )


@pytest.mark.parametrize(
    "body",
    [
        "    def job():\n        return data.mean()\n    jobs.append(job)\n",
        "    jobs.append(functools.partial(np.mean, data))\n",
        "    jobs.append(lambda data=data: data.mean())\n",
        "    job = lambda: data.mean()\n    jobs.append(job)\n",
    ],
)
def test_every_function_that_keeps_data_is_found(body):
    assert codes(in_function(body)) == ["LW104"]


@pytest.mark.parametrize(
    "text",
    [
        in_function("    mean = float(data.mean())\n    jobs.append(lambda: mean)\n"),
        in_function("    jobs.append(functools.partial(print, float(data.mean())))\n"),
        in_function("    jobs.append(lambda: data.mean())\n    jobs.clear()\n"),
        in_function("    job = lambda: data.mean()\n    job()\n"),
        "data = np.zeros(9)\nfor n in range(99):\n    jobs.append(lambda: data.mean() + n)\n",
        in_function("    jobs.append(lambda: data.mean())\n", loop="step(9)\n"),
    ],
)
def test_functions_that_keep_no_data_of_the_round_are_acquitted(text):
    assert codes(text) == []


SMOOTH = "def smooth(frame, window=[]):\n    window.append(np.abs(frame))\n    return window[-1]\n"


def test_a_default_value_that_grows_is_found():
    [finding] = findings_in(f"{HEAD}import tensorflow\n{SMOOTH}")

    assert (finding.code, finding.span.line) == ("LW104", 7)
    assert finding.message == (
        "`window` is a default value, so all calls of `smooth` share it, and it grows with each."
    )


@pytest.mark.parametrize(
    "text",
    [
        SMOOTH.replace("[]", "deque(maxlen=3)", 1),
        SMOOTH.replace("[]", "None", 1),
        SMOOTH.replace("[]", "{}").replace(".append(np.abs(frame))", "['last'] = np.abs(frame)"),
        SMOOTH.replace("np.abs(frame)", "float(frame.mean())"),
        f"{SMOOTH}window = []\nfor n in range(99):\n    smooth(n, window)\n    window.clear()\n",
        SMOOTH.replace("    return", "    del window[:-3]\n    return"),
        SMOOTH.replace("    window.append", "    window = [*window]\n    window.append"),
    ],
)
def test_a_default_value_that_stays_small_is_acquitted(text):
    assert codes(text) == []
