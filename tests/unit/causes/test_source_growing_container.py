"""LW102 in the source: containers that get data in each round, and never lose any."""

import pytest

from lowwater.testing import findings_in

HEAD = "import collections\nimport numpy as np\nimport tensorflow as tf\nkept = []\n"
TRAIN = "optimizer = tf.keras.optimizers.SGD()\n"


def codes(text):
    return [one.code for one in findings_in(HEAD + text)]


def test_tensors_of_every_round_are_found():
    text = "for step in range(99):\n    out = tf.matmul(x, w)\n    kept.append(out)\n"
    [finding] = findings_in(HEAD + text)

    assert (finding.code, finding.span.line) == ("LW102", 7)
    assert finding.message == "`kept` keeps a tensor of every iteration."
    assert finding.label == "a tensor per iteration, and none is ever removed"


@pytest.mark.parametrize(
    ("container", "adding", "fix"),
    [
        ("{}", "[n] = x", "Delete entries"),
        ("set()", ".add(x)", "Discard members"),
        ("collections.deque()", ".append(x)", "Give it a maximum length"),
        ("collections.defaultdict(list)", "[n] = x", "Delete entries"),
    ],
)
def test_the_fix_is_that_of_the_container(container, adding, fix):
    text = f"box = {container}\nfor n in range(99):\n    x = np.zeros(9)\n    box{adding}\n"
    [finding] = findings_in(HEAD + text)

    assert finding.fix.startswith(fix)


MEMORY = (
    "class Memory:\n    def __init__(self):\n        self.items = []\n"
    "    def remember(self, state):\n        self.items.append((state, 1.0))\n"
    "memory = Memory()\n"
)


RESET = MEMORY.replace("memory =", "    def reset(self):\n        self.items = []\nmemory =")


@pytest.mark.parametrize(
    "text",
    [
        "while True:\n    kept += [np.zeros(9)]\n",
        "for batch in batches:\n    optimizer.minimize(f)\n    kept.append(tf.abs(x))\n",
        (
            "def train():\n    seen = []\n    for n in range(99):\n"
            "        optimizer.apply_gradients(g)\n        seen.append(np.abs(x))\n"
        ),
        f"{MEMORY}for n in range(99):\n    memory.remember(np.zeros(9))\n",
        f"{MEMORY}def f(m):\n    m.items.append(np.zeros(9))\nfor n in range(99):\n    f(memory)\n",
        "def note(log, x):\n    log.append(np.abs(x))\nfor n in range(99):\n    note(kept, n)\n",
        (
            "class Tracker:\n    frames = []\n    def push(self, x):\n"
            "        self.frames.append(np.asarray(x))\n"
            "for clip in clips:\n    tracker = Tracker()\n    tracker.push(clip)\n"
        ),
    ],
)
def test_every_way_to_keep_data_is_found(text):
    assert codes(text) == ["LW102"]


@pytest.mark.parametrize(
    "text",
    [
        "for n in range(99):\n    kept.append(float(tf.reduce_mean(x)))\n",
        "for n in range(99):\n    kept.append(tf.reduce_mean(x))\n",
        "for n in range(99):\n    kept.append(tf.matmul(x, w))\nresult = tf.concat(kept, 0)\n",
        "for n in range(99):\n    kept = []\n    kept.append(np.zeros(9))\n",
        "for n in range(99):\n    kept.append(np.zeros(9))\n    del kept[0]\n",
        "for n in range(99):\n    kept.append(np.zeros(9))\n    kept[:] = kept[-9:]\n",
        "for n in range(99):\n    kept.append(np.zeros(9))\n    if len(kept) > 9:\n        break\n",
        "for n in range(3):\n    kept.append(np.zeros(9))\n",
        "for path in paths:\n    kept.append(np.load(path))\n",
        "kept = collections.deque(maxlen=9)\nfor n in range(99):\n    kept.append(np.zeros(9))\n",
        "kept = {}\nfor n in range(99):\n    kept[n % 9] = np.zeros(9)\n",
        (
            "def gather():\n    found = []\n    for n in range(99):\n"
            "        found.append(np.zeros(9))\n    return found\n"
        ),
        f"{MEMORY}for n in range(99):\n    memory = Memory()\n    memory.remember(np.zeros(9))\n",
        (
            f"{MEMORY}def clip(m):\n    for f in range(9):\n        m.remember(np.zeros(9))\n"
            "for n in range(99):\n    clip(Memory())\n"
        ),
        f"{MEMORY}while True:\n    memory.remember(np.zeros(9))\n    memory.items.clear()\n",
        "def decode():\n    seen = []\n    for n in range(99):\n        seen.append(np.abs(x))\n",
        "kept = np.zeros((99, 9))\nfor n in range(99):\n    kept[n] = np.abs(x)\n",
        "kept = [None] * 99\nfor n in range(99):\n    kept[n] = np.abs(x)\n",
        "made = make_buffer()\nfor n in range(99):\n    made.append(np.abs(x))\n",
        (
            "class Ring:\n    def append(self, x):\n        self.last = x\n"
            "ring = Ring()\nfor n in range(99):\n    ring.append(np.abs(x))\n"
        ),
        f"{RESET}for n in range(99):\n    memory.remember(np.zeros(9))\n",
        (
            "class Data:\n    def __init__(self):\n        self.items = []\n"
            "        for n in range(99):\n            self.items.append(np.zeros(9))\n"
        ),
    ],
)
def test_what_is_limited_or_a_result_is_acquitted(text):
    assert codes(text) == []


TORCH = "import torch\nlosses = []\ntotal = 0.0\nfor x, y in loader:\n"


def test_a_torch_loss_that_is_not_detached_is_found():
    text = f"{TORCH}    loss = criterion(net(x), y)\n    loss.backward()\n    losses.append(loss)\n"
    [finding] = findings_in(text)

    assert (finding.code, finding.span.line) == ("LW102", 7)
    assert finding.message == (
        "`losses` keeps `loss` of every iteration, and with it the graph that torch computed it by."
    )
    assert finding.fix == ("Keep the number, `loss.item()`, or only the tensor, `loss.detach()`.")


@pytest.mark.parametrize("kept", ["total += loss", "losses += [loss]", "losses.append((x, loss))"])
def test_every_way_to_keep_a_loss_is_found(kept):
    text = f"{TORCH}    loss = criterion(net(x), y)\n    loss.backward()\n    {kept}\n"

    assert [one.code for one in findings_in(text)] == ["LW102"]


@pytest.mark.parametrize(
    "body",
    [
        "loss.backward()\n    total += loss.item()",
        "loss.backward()\n    losses.append(float(loss))",
        "loss.backward()\n    losses.append(loss.detach())",
        "loss.backward()\n    total = 0.0\n    total += loss",
        "loss.backward()\n    losses.append(loss)\n    losses.clear()",
        "total += loss\n    total.backward()",
        "other.append(loss)",
    ],
)
def test_a_loss_that_is_detached_or_dropped_is_acquitted(body):
    text = f"{TORCH}    loss = criterion(net(x), y)\n    {body}\n"

    assert findings_in(text) == []
