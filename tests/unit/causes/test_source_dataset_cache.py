"""LW301 in the source: caches that never fill, fill again, or freeze what should change."""

import pytest

from lowwater.testing import findings_in

HEAD = "import tensorflow as tf\nimport keras\ndata = tf.data.Dataset.range(9)\n"
AUGMENT = "def augment(x):\n    return tf.image.random_flip_left_right(x)\n"
ENDLESS = "`cache()` comes after `repeat()`: its input never ends, so it keeps filling."


def messages(text):
    return [one.message for one in findings_in(HEAD + text) if one.code == "LW301"]


@pytest.mark.parametrize(
    "text",
    [
        "data = data.repeat().map(f).cache().batch(8)\n",
        "data = data.repeat(-1).cache()\n",
        "data = data.repeat(count=None).cache()\n",
        "data = data.repeat()\ndata = data.map(f)\ndata = data.cache()\n",
        "def make(d):\n    return d.repeat().batch(8)\ndata = make(data).cache()\n",
        "def keep(d):\n    return d.cache()\ndata = keep(data.repeat())\n",
        "if training:\n    data = data.repeat()\ndata = data.cache()\n",
    ],
)
def test_a_cache_of_an_endless_input_is_found(text):
    assert messages(text) == [ENDLESS]


@pytest.mark.parametrize(
    "text",
    [
        "data = data.map(f).cache().repeat().batch(8)\n",
        "data = data.repeat().take(100).cache()\n",
        "data = data.repeat().cache('/tmp/cache')\n",
        "data = data.repeat(1).cache()\n",
        # Two branches of one choice.
        "if training:\n    data = data.repeat()\nif not training:\n    data = data.cache()\n",
        "import numpy as np\nx = np.repeat(3, 4)\ny = x.cache()\n",
        "class Store:\n    def cache(self):\n        return 1\nStore().cache()\n",
    ],
)
def test_a_cache_that_ends_is_not_found(text):
    assert messages(text) == []


def test_the_step_is_shown_and_not_the_start_of_its_chain():
    text = "data = (\n    data.repeat()\n    .map(f)\n    .cache()\n)\n"

    [finding] = findings_in(HEAD + text)

    assert (finding.span.line, finding.span.column) == (7, 6)


def test_a_cache_of_several_passes_is_found():
    [message] = messages("data = data.repeat(epochs).cache()\n")

    assert "after `repeat(epochs)`" in message


def test_a_frozen_order_is_found():
    [message] = messages("data = data.shuffle(100).cache()\n")

    assert message == "`cache()` comes after `shuffle()`: every epoch reads the order of the first."


@pytest.mark.parametrize(
    "text",
    [
        "data = data.cache().shuffle(100)\n",
        "data = data.shuffle(100).cache().shuffle(10)\n",
        "data = data.shuffle(100).cache()\ndata = data.shuffle(10)\n",
        "data = data.shuffle(100, reshuffle_each_iteration=False).cache()\n",
        # Evaluation has no use for another order.
        (
            "val = data.shuffle(9).cache()\nmodel = keras.Sequential([])\n"
            "model.fit(data, validation_data=val)\n"
        ),
        # What is cached is a split, which must be the same in every epoch.
        "data = data.shuffle(100).take(80).cache()\n",
    ],
)
def test_an_order_that_is_renewed_or_meant_to_stay_is_not_found(text):
    assert messages(text) == []


@pytest.mark.parametrize(
    "text",
    [
        f"{AUGMENT}data = data.map(augment).cache()\n",
        "data = data.map(lambda x: tf.image.random_contrast(x, 0.1, 0.2)).cache()\n",
        f"{AUGMENT}def load(p):\n    return augment(read(p))\ndata = data.map(load).cache()\n",
        (
            "layer = keras.Sequential([keras.layers.RandomFlip()])\n"
            "data = data.map(lambda x, y: (layer(x, training=True), y)).cache()\n"
        ),
        (
            "def noisy(x):\n    return x + tf.random.normal(tf.shape(x))\n"
            "data = data.map(noisy).cache()\n"
        ),
    ],
)
def test_frozen_augmentation_is_found(text):
    [message] = messages(text)

    assert "after a random `map`" in message


@pytest.mark.parametrize(
    "text",
    [
        f"{AUGMENT}data = data.cache().map(augment)\n",
        # Made-up data is drawn once on purpose.
        "def load(i):\n    return tf.random.uniform((64, 64))\ndata = data.map(load).cache()\n",
        "layer = keras.layers.Rescaling(2)\ndata = data.map(lambda x: layer(x)).cache()\n",
        (
            "layer = keras.layers.RandomFlip()\n"
            "data = data.map(lambda x: layer(x, training=False)).cache()\n"
        ),
        (
            "def load(x, training):\n    if training:\n"
            "        x = tf.image.random_flip_left_right(x)\n    return x\n"
            "data = data.map(load).cache()\n"
        ),
    ],
)
def test_a_map_that_gives_the_same_each_time_is_not_found(text):
    assert messages(text) == []


def test_a_cache_in_each_iteration_is_found():
    [message] = messages("for epoch in range(9):\n    for x in data.cache():\n        f(x)\n")

    assert message.startswith("`cache()` is called in each iteration")


@pytest.mark.parametrize(
    "text",
    [
        "data = data.cache()\nfor epoch in range(9):\n    for x in data:\n        f(x)\n",
        "for fold in range(9):\n    model.fit(data.skip(fold).cache(), epochs=9)\n",
        "for part in parts:\n    model.fit(load(part).cache(), epochs=9)\n",
        "for part in parts:\n    f(data.cache())\n    data = data.concatenate(part)\n",
    ],
)
def test_a_cache_of_new_data_is_not_found(text):
    assert messages(text) == []


def test_kept_caches_are_found():
    text = "kept = []\nfor part in parts:\n    d = data.skip(part).cache()\n    kept.append(d)\n"

    assert messages(text) == ["`kept` keeps a data set with a cache of its own in every iteration."]


def test_a_table_of_splits_is_not_found():
    text = "table = {}\nfor name in names:\n    d = load(name).cache()\n    table[name] = d\n"

    assert messages(text) == []


def test_the_last_cache_alone_is_not_found():
    assert messages("for part in parts:\n    kept = data.skip(part).cache()\n    f(kept)\n") == []
