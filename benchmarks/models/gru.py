"""A bidirectional GRU on text of 80 tokens."""

import keras
import numpy as np


def build():
    model = keras.Sequential(
        [
            keras.Input((80,), dtype="int32"),
            keras.layers.Embedding(5000, 64),
            keras.layers.Bidirectional(keras.layers.GRU(96)),
            keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile("rmsprop", "binary_crossentropy")
    return model


def data(count):
    random = np.random.default_rng(0)
    return random.integers(0, 5000, (count, 80)), random.integers(0, 2, (count, 1))
