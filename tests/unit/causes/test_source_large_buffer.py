"""LW302 in the source: shuffle buffers that hold batches, or what was decoded."""

import pytest

from lowwater.testing import findings_in

HEAD = (
    "import tensorflow as tf\nimport keras\npaths = tf.data.Dataset.list_files('*')\n"
    "def decode(path):\n    return tf.io.decode_jpeg(tf.io.read_file(path))\n"
)


def messages(text):
    return [one.message for one in findings_in(HEAD + text) if one.code == "LW302"]


@pytest.mark.parametrize(
    "text",
    [
        "data = paths.map(decode).batch(64).shuffle(10_000)\n",
        "data = paths.padded_batch(64)\ndata = data.map(f).shuffle(buffer_size=10_000)\n",
        "data = keras.utils.image_dataset_from_directory('x')\ndata = data.shuffle(10_000)\n",
    ],
)
def test_a_buffer_of_batches_is_found(text):
    assert messages(text) == [
        "`shuffle()` comes after `batch()`: its buffer holds 10,000 whole batches."
    ]


@pytest.mark.parametrize(
    "text",
    [
        "data = paths.map(decode).shuffle(COUNT)\n",
        "data = paths.map(lambda p: (decode(p), 1)).prefetch(2).shuffle(COUNT).batch(9)\n",
        (
            "class Loader:\n    def load(self, p):\n        return decode(p)\n"
            "    def data(self):\n        d = paths.map(self.load)\n"
            "        return d.shuffle(COUNT)\n"
        ),
    ],
)
def test_a_buffer_of_decoded_elements_is_found(text):
    [message] = messages(text)

    assert message.endswith("its buffer holds `COUNT` decoded elements.")


@pytest.mark.parametrize(
    "text",
    [
        "data = paths.shuffle(10_000).map(decode).batch(64).prefetch(2)\n",
        # A cache and a buffer share their elements.
        "data = paths.map(decode).cache().shuffle(10_000)\n",
        "data = keras.utils.image_dataset_from_directory('x').cache().shuffle(1000)\n",
        "data = paths.batch(64).unbatch().shuffle(10_000)\n",
        "data = keras.utils.image_dataset_from_directory('x', batch_size=None).shuffle(9)\n",
        "data = paths.map(lambda p: tf.strings.length(p)).shuffle(10_000)\n",
        "data = paths.batch(64).shuffle(1)\n",
        "data = paths.batch(1).shuffle(100)\n",
        # The first batches are windows of a text.
        "data = paths.batch(length).shuffle(10_000).batch(64)\n",
        "data = paths.batch(length)\ndata = data.map(f)\ndata = data.shuffle(99).batch(64)\n",
        # The images are there already, and larger.
        "data = images.map(lambda x: tf.image.resize(x, (64, 64))).shuffle(10_000)\n",
        "import random\nx = [1, 2]\nrandom.shuffle(x)\n",
    ],
)
def test_a_buffer_of_small_elements_is_not_found(text):
    assert messages(text) == []


def test_batches_in_one_branch_only_are_not_found():
    text = "data = paths\nif eager:\n    data = data.batch(9)\ndata = data.shuffle(100)\n"

    assert messages(text) == []
