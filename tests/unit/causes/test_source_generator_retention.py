"""LW303 in the source: generators and data sets that keep what they hand out."""

import pytest

from lowwater.testing import findings_in

HEAD = "import keras\nimport numpy as np\nrng = np.random.default_rng()\nkept = []\n"
DATA = "class Batches(keras.utils.PyDataset):\n    def __init__(self):\n        {start}\n"
GET = (
    "    def __getitem__(self, index):\n        batch = {batch}\n        {keep}\n"
    "        return batch\n"
)


def codes(text):
    return [one.code for one in findings_in(HEAD + text)]


def data_set(keep, start="self.served = []", batch="rng.normal(size=(9, 9))"):
    return DATA.format(start=start) + GET.format(batch=batch, keep=keep)


def test_a_data_set_that_keeps_its_batches_is_found():
    [finding] = findings_in(HEAD + data_set("self.served.append(batch)"))

    assert (finding.code, finding.span.line) == ("LW303", 10)
    assert finding.message == "`self.served` grows with every batch that `Batches` returns."


@pytest.mark.parametrize(
    "text",
    [
        data_set("self.served.append((batch, 1))"),
        data_set("kept.append(batch)"),
        # What it is, is not known; that it is handed out is enough.
        data_set("self.served.append(batch)", batch="load(index)"),
        data_set("self.steps += 1; self.by_step[self.steps] = batch", "self.by_step = {}"),
        data_set("self.served.append(batch)").replace(
            "keras.utils.PyDataset", "keras.utils.Sequence"
        ),
        "import torch\n"
        + data_set("self.served.append(batch)").replace(
            "keras.utils.PyDataset", "torch.utils.data.Dataset"
        ),
    ],
)
def test_every_data_set_that_keeps_its_batches_is_found(text):
    assert codes(text) == ["LW303"]


@pytest.mark.parametrize(
    "text",
    [
        data_set("pass"),
        data_set("self.means.append(float(batch.mean()))", "self.means = []"),
        data_set("self.served.append(batch)", "self.served = collections.deque(maxlen=4)").replace(
            "class", "import collections\nclass"
        ),
        data_set("self.served.append(batch); self.served.pop(0)"),
        # As many as there are batches in an epoch, and no more.
        data_set("self.by_index[index] = batch", "self.by_index = {}"),
        data_set("self.names.append(name)", "self.names = []", "load(index)"),
    ],
)
def test_a_data_set_that_keeps_little_is_not_found(text):
    assert codes(text) == []


@pytest.mark.parametrize(
    "text",
    [
        (
            "def batches():\n    while True:\n        x = rng.random((9, 9))\n"
            "        kept.append(x)\n        yield x\n"
        ),
        (
            "def batches():\n    while True:\n        x, y = load()\n"
            "        kept.append((x, y))\n        yield x, y\n"
        ),
        (
            "def windows(source):\n    window = []\n    for x in source:\n"
            "        window.append(x)\n"
            "        if len(window) >= 3:\n            yield np.mean(window[-3:])\n"
            "def sensor():\n    while True:\n        yield rng.random((9, 9))\nwindows(sensor())\n"
        ),
    ],
)
def test_a_generator_that_keeps_its_batches_is_found(text):
    assert codes(text + "keras.Model().fit(batches())\n") == ["LW303"]


@pytest.mark.parametrize(
    "text",
    [
        # Arrays have their size, and `np.append` makes a new one.
        (
            "def batches():\n    x = np.zeros((9, 9))\n    i = 0\n    while True:\n"
            "        x[i] = np.ones(9)\n        i += 1\n        y = np.append(x, x)\n"
            "        yield x, y\n"
        ),
        # What was seen is kept on purpose.
        (
            "def unique(source):\n    seen = set()\n    for one in source:\n"
            "        if one in seen:\n            continue\n        seen.add(one)\n"
            "        yield one\n"
        ),
        # The parts of one batch.
        (
            "def batches():\n    while True:\n        batch = []\n        for i in range(99):\n"
            "            batch.append(rng.random((9, 9)))\n        yield np.array(batch)\n"
        ),
        (
            "def batches():\n    batch = []\n    for x in source:\n        batch.append(x)\n"
            "        if len(batch) == 9:\n            yield batch\n            batch = []\n"
        ),
        # All is loaded before the first batch.
        (
            "def batches():\n    images = []\n    for path in paths:\n"
            "        images.append(np.load(path))\n"
            "    while True:\n        yield images\n"
        ),
        (
            "def windows(source):\n    window = []\n    for x in source:\n"
            "        window.append(x)\n"
            "        if len(window) > 3:\n            del window[0]\n        yield x\n"
        ),
        (
            "def windows(source):\n    window = []\n    for x in source:\n"
            "        window.append(x)\n"
            "        if len(window) > 3:\n            window.pop(0)\n        yield x\n"
        ),
    ],
)
def test_a_generator_that_keeps_one_batch_is_not_found(text):
    assert "LW303" not in codes(text)


@pytest.mark.parametrize(
    "limit",
    [
        "if len(kept) < 9:\n            kept.append(x)",
        "kept.append(x)\n        if len(kept) > 9:\n            flush()",
        "kept.append(x)\n        if len(kept) > 9:\n            return",
        "kept.append(x)\n        if len(kept) > 9:\n            kept[:] = kept[-9:]",
    ],
)
def test_a_length_that_may_limit_acquits(limit):
    text = (
        f"def batches():\n    while True:\n        x = load()\n        {limit}\n        yield x\n"
    )

    assert codes(text) == []


def test_a_length_that_only_says_whether_to_read_does_not_acquit():
    text = (
        "def batches():\n    while True:\n        x = load()\n        kept.append(x)\n"
        "        if len(kept) > 9:\n            mean = np.mean(kept[-9:])\n        yield x\n"
    )

    assert codes(text) == ["LW303"]


def test_an_array_that_was_made_many_steps_away_is_known():
    steps = "".join(f"def f{n}():\n    x = f{n + 1}()\n    return x\n" for n in range(6))
    text = f"{steps}def f6():\n    return rng.normal(size=9)\n" + data_set(
        "self.served.append((batch, index))", batch="f0()"
    )

    assert codes(text) == ["LW303"]
