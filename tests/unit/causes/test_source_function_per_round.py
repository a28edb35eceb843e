"""LW207 in the source: what is compiled again, or made into a new graph, in each round."""

import pytest

from lowwater.testing import findings_in

HEAD = "import keras\nimport tensorflow as tf\nmodel = keras.Sequential([])\nmade = {}\n"
STEP = (
    "def make_step(optimizer):\n    def step(x):\n        with tf.GradientTape() as tape:\n"
    "            loss = tf.reduce_mean(model(x))\n"
    "        optimizer.apply_gradients(zip(tape.gradient(loss, v), v))\n        return loss\n"
    "    return tf.function(step)\n"
)


def codes(text):
    return [one.code for one in findings_in(HEAD + text)]


def test_a_model_that_is_compiled_in_each_round_is_found():
    text = "for epoch in range(9):\n    model.compile('adam', 'mse')\n    model.fit(x, y)\n"
    [finding] = findings_in(HEAD + text)

    assert (finding.code, finding.span.line) == ("LW207", 6)
    assert finding.message == "`model` is compiled again in every iteration."


@pytest.mark.parametrize(
    "text",
    [
        (
            "def phase(n):\n    model.compile('adam', 'mse')\n    model.fit(x, y)\n"
            "for n in range(9):\n    phase(n)\n"
        ),
        (
            "def phase(net):\n    net.compile('adam', 'mse')\n    net.fit(x, y)\n"
            "for n in range(9):\n    phase(model)\n"
        ),
        (
            "class Agent:\n    def __init__(self):\n        self.net = keras.Sequential([])\n"
            "    def learn(self):\n        self.net.compile('sgd', 'mse')\n"
            "        self.net.train_on_batch(x, y)\n"
            "agent = Agent()\nfor n in range(9):\n    agent.learn()\n"
        ),
        (
            "class Unfreeze(keras.callbacks.Callback):\n"
            "    def on_epoch_begin(self, epoch, logs=None):\n"
            "        self.model.compile('sgd', 'mse')\n"
        ),
    ],
)
def test_every_way_to_compile_again_is_found(text):
    assert codes(text) == ["LW207"]


@pytest.mark.parametrize(
    "text",
    [
        "model.compile('adam', 'mse')\nfor n in range(9):\n    model.fit(x, y)\n",
        "for n in range(9):\n    model.compile('sgd', run_eagerly=True)\n    model.fit(x, y)\n",
        "for n in range(3):\n    model.compile('adam', 'mse')\n    model.fit(x, y)\n",
        (
            "for n in range(9):\n    if n == 5:\n        model.compile('adam', 'mse')\n"
            "    model.fit(x, y)\n"
        ),
        "for model in models:\n    model.compile('adam', 'mse')\n    model.fit(x, y)\n",
        (
            "class Agent:\n    def __init__(self):\n        self.net = keras.Sequential([])\n"
            "    def learn(self):\n        self.net.compile('sgd', 'mse')\n"
            "        self.net.train_on_batch(x, y)\n"
            "for n in range(9):\n    agent = Agent()\n    agent.learn()\n"
        ),
        (
            "import lowwater\nlowwater.mend()\nfor n in range(9):\n"
            "    model.compile('adam', 'mse')\n    model.fit(x, y)\n"
        ),
    ],
)
def test_what_is_compiled_once_or_for_each_model_is_acquitted(text):
    assert [one for one in codes(text) if one != "LW205"] == []


def test_functions_that_are_kept_are_found():
    text = "for n in range(9):\n    made[n] = tf.function(lambda x: x + n)\n"
    [finding] = findings_in(HEAD + text)

    assert finding.message == "`made` keeps the compiled function of every iteration."
    assert codes("for n in range(9):\n    f = tf.function(lambda x: x + n)\n    f(x)\n") == []
    assert codes("f = tf.function(g)\nfor n in range(9):\n    made[n] = f(x)\n") == []


def test_a_training_step_that_is_made_in_each_round_is_found():
    loop = "for n in range(9):\n    step = make_step(keras.optimizers.Adam(0.1))\n    step(x)\n"

    assert codes(STEP + loop) == ["LW207"]
    assert (
        codes(
            f"{STEP}step = make_step(keras.optimizers.Adam(0.1))\nfor n in range(9):\n    step(x)\n"
        )
        == []
    )
    assert codes(f"{STEP.replace('tf.function(step)', 'step')}{loop}") == []


def test_a_method_that_trains_is_found_where_each_round_makes_its_object():
    trial = (
        "class Trial:\n    @tf.function\n    def step(self, x):\n"
        "        self.optimizer.apply_gradients(grads)\n"
    )

    assert codes(f"{trial}for n in range(9):\n    Trial().step(x)\n") == ["LW207"]
    assert codes(f"{trial}trial = Trial()\nfor n in range(9):\n    trial.step(x)\n") == []
