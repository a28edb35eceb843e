"""LW107 in the source: memos whose key is new in every round."""

import pytest

from lowwater.testing import findings_in

HEAD = "import functools\nimport keras\nimport numpy as np\nfrom functools import lru_cache\n"
CACHED = "@lru_cache(maxsize=None)\ndef load(index, epoch):\n    return np.zeros((index, 9))\n"
LOOP = "for epoch in range(9):\n    for index in range(4):\n        load(index, epoch)\n"


def codes(text):
    return [one.code for one in findings_in(HEAD + text)]


def test_a_memo_with_the_epoch_in_its_key_is_found():
    [finding] = findings_in(HEAD + CACHED + LOOP)

    assert (finding.code, finding.span.line) == ("LW107", 5)
    assert finding.message == ("`load` keeps every result, and `epoch` is new in every iteration.")


@pytest.mark.parametrize(
    "cached",
    [
        CACHED.replace("lru_cache(maxsize=None)", "functools.cache"),
        CACHED.replace("lru_cache(maxsize=None)", "lru_cache(None)"),
        CACHED.replace("np.zeros((index, 9))", "keras.Sequential([])"),
    ],
)
def test_every_memo_without_a_limit_is_found(cached):
    assert codes(cached + LOOP) == ["LW107"]


@pytest.mark.parametrize(
    "text",
    [
        CACHED + LOOP.replace("load(index, epoch)", "load(index, 0)"),
        CACHED.replace("maxsize=None", "maxsize=64") + LOOP,
        CACHED.replace("lru_cache(maxsize=None)", "lru_cache") + LOOP,
        CACHED.replace("np.zeros((index, 9))", "index * epoch") + LOOP,
        CACHED.replace("@lru_cache(maxsize=None)\n", "") + LOOP,
    ],
)
def test_a_memo_that_fills_or_is_light_is_acquitted(text):
    assert codes(text) == []


DICT = (
    "kernels = {}\ndef kernel(scale):\n    if scale in kernels:\n        return kernels[scale]\n"
    "    kernels[scale] = np.exp(-points / scale)\n    return kernels[scale]\n"
    "points = np.zeros((9, 9))\nscale = 1.0\n"
)


def test_a_dict_that_serves_as_a_memo_is_found():
    [finding] = findings_in(
        f"{HEAD}{DICT}for n in range(99):\n    scale *= 0.9\n    kernel(scale)\n"
    )

    assert (finding.code, finding.span.line) == ("LW107", 9)
    assert finding.message == (
        "`kernels` keeps an array for every `scale`, and each iteration has a new one."
    )


@pytest.mark.parametrize(
    "loop",
    [
        "for n in range(99):\n    kernel(0.5)\n",
        "for n in range(99):\n    scale = 1.0 if n % 4 == 3 else scale * 0.9\n    kernel(scale)\n",
        "for n in range(99):\n    scale *= 0.9\n    kernel(scale)\n    kernels.clear()\n",
        "for n in range(99):\n    scale *= 0.9\n    if len(kernels) > 8:\n        kernels = {}\n",
    ],
)
def test_a_dict_that_fills_is_acquitted(loop):
    assert codes(DICT + loop) == []


@pytest.mark.parametrize(
    "text",
    [
        "state = {}\nfor key, value in pairs:\n    state[id(key)] = np.asarray(value)\n",
        (
            "state = {}\nfor key, value in pairs:\n    if key in state:\n"
            "        raise KeyError(key)\n    state[key] = np.asarray(value)\n"
        ),
        "state = {}\nfor n in range(9):\n    state[n] = np.zeros(n)\n    state.get(0)\n",
    ],
)
def test_a_dict_that_is_no_memo_is_acquitted(text):
    assert "LW107" not in codes(text)


METHOD = (
    "class Clip:\n    def __init__(self, path):\n        self.data = np.load(path)\n"
    "    @lru_cache(maxsize=None)\n    def mean(self):\n        return float(self.data.mean())\n"
)


def test_a_memo_of_a_method_keeps_its_objects():
    loop = "for path in paths:\n    Clip(path).mean()\n"
    [finding] = findings_in(HEAD + METHOD + loop)

    assert (finding.code, finding.span.line) == ("LW107", 8)
    assert finding.message == "`mean` keeps every `Clip` it was called on: one per iteration."
    assert codes(f"{METHOD}clip = Clip(p)\nfor n in range(9):\n    clip.mean()\n") == []
    assert codes(METHOD.replace("np.load(path)", "path") + loop) == []
    assert codes(METHOD.replace("lru_cache(maxsize=None)", "functools.wraps(f)") + loop) == []
