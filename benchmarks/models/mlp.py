"""A multilayer perceptron on images of digits, with Adam."""

import keras
import numpy as np


def build():
    model = keras.Sequential(
        [
            keras.Input((784,)),
            keras.layers.Dense(1024, activation="relu"),
            keras.layers.Dropout(0.2),
            keras.layers.Dense(512, activation="relu"),
            keras.layers.Dense(512, activation="relu"),
            keras.layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def data(count):
    random = np.random.default_rng(0)
    return random.random((count, 784), "float32"), random.integers(0, 10, count)
