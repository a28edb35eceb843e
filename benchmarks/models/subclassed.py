"""A subclass of `Model` with residual blocks; its shapes are known at the first call only."""

import keras
import numpy as np


class Block(keras.layers.Layer):
    def __init__(self, width):
        super().__init__()
        self.first = keras.layers.Conv2D(width, 3, padding="same", use_bias=False)
        self.second = keras.layers.Conv2D(width, 3, padding="same", use_bias=False)
        self.norms = [keras.layers.BatchNormalization() for _ in range(2)]

    def call(self, inputs, training=False):
        hidden = keras.ops.relu(self.norms[0](self.first(inputs), training=training))
        return keras.ops.relu(inputs + self.norms[1](self.second(hidden), training=training))


class Residual(keras.Model):
    def __init__(self):
        super().__init__()
        self.stem = keras.layers.Conv2D(32, 3, strides=2, padding="same")
        self.blocks = [Block(32) for _ in range(3)]
        self.pool = keras.layers.GlobalAveragePooling2D()
        self.head = keras.layers.Dense(10)

    def call(self, images, training=False):
        hidden = self.stem(images)
        for block in self.blocks:
            hidden = block(hidden, training=training)
        return self.head(self.pool(hidden))


def build():
    model = Residual()
    model.compile(
        keras.optimizers.SGD(0.01, momentum=0.9),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    return model


def data(count):
    random = np.random.default_rng(0)
    return random.random((count, 64, 64, 3), "float32"), random.integers(0, 10, count)
