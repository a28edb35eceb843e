"""LW304 in the source: pipelines with Python functions, made again in each round."""

import pytest

from lowwater.testing import findings_in

HEAD = (
    "import keras\nimport tensorflow as tf\ndata = tf.data.Dataset.range(9)\n"
    "model = keras.Sequential([])\n"
    "def batches(x):\n    while True:\n        yield x\n"
    "class Frames(keras.utils.PyDataset):\n    def __init__(self, x):\n        self.x = x\n"
)
FOLDS = "for fold in range(9):\n    "
PIPELINE = (
    "def pipeline(x):\n    def samples():\n        yield from x\n"
    "    return tf.data.Dataset.from_generator(samples, output_types=tf.float32)\n"
)


def codes(text):
    return [one.code for one in findings_in(HEAD + text)]


def test_a_pipeline_in_each_fold_is_found():
    [finding] = findings_in(HEAD + PIPELINE + FOLDS + "model.fit(pipeline(load(fold)))\n")

    assert (finding.code, finding.span.line) == ("LW304", 14)
    assert finding.message == (
        "Each iteration makes a new pipeline: TensorFlow's default graph keeps the generator, "
        "with the data that it reads."
    )


@pytest.mark.parametrize(
    "text",
    [
        FOLDS + "model.fit(Frames(load(fold)))\n",
        FOLDS + "data = Frames(load(fold))\n    model.fit(data, epochs=9)\n",
        FOLDS + "model.fit(x=batches(x[fold]))\n",
        FOLDS + "model.predict(batches(x[fold]))\n",
        FOLDS + "model.fit(a, validation_data=Frames(x[fold]))\n",
        "def train(x):\n    model.fit(Frames(x))\n" + FOLDS + "train(load(fold))\n",
        (
            "datagen = keras.preprocessing.image.ImageDataGenerator()\n"
            + FOLDS
            + "model.fit(datagen.flow(x[fold], y[fold]))\n"
        ),
        (
            "class Mixer:\n    def __init__(self, x):\n        self.x = x\n"
            "    def mix(self, a):\n        return a\n"
            "    def apply(self, a):\n        return tf.numpy_function(self.mix, [a], tf.float32)\n"
            + FOLDS
            + "mixer = Mixer(load(fold))\n    data.map(mixer.apply)\n"
        ),
    ],
)
def test_every_way_to_give_a_new_function_is_found(text):
    assert codes(text) == ["LW304"]


@pytest.mark.parametrize(
    "text",
    [
        "data = pipeline(load(0))\n" + FOLDS + "model.fit(data)\n",
        FOLDS + "model.fit(pipeline(load(fold)))\n    keras.utils.clear_session()\n",
        "frames = Frames(load(0))\n" + FOLDS + "frames.x = load(fold)\n    model.fit(frames)\n",
        # The same data each time: one more name for it is little.
        FOLDS + "model.fit(batches(everything))\n",
        FOLDS + "model.fit(Frames(everything))\n",
        FOLDS + "model.fit(x[fold], y[fold])\n",
        "for name in ('train', 'test'):\n    model.fit(Frames(load(name)))\n",
        (
            "def mix(a):\n    return a\n"
            + FOLDS
            + "data.map(lambda a: tf.numpy_function(mix, [a], tf.float32))\n"
        ),
        (
            "def samples():\n    yield everything\n"
            + FOLDS
            + "tf.data.Dataset.from_generator(samples)\n"
        ),
    ],
)
def test_what_keeps_no_data_of_the_round_is_not_found(text):
    assert "LW304" not in codes(PIPELINE + text)
