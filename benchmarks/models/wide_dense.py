"""Few, very wide layers: weights and gradients are nearly all, and their order is luck."""

import keras
import numpy as np


def build():
    model = keras.Sequential(
        [
            keras.Input((1024,)),
            keras.layers.Dense(3072, activation="relu"),
            keras.layers.Dense(3072, activation="relu"),
            keras.layers.Dense(1),
        ]
    )
    model.compile("adam", "mse")
    return model


def data(count):
    random = np.random.default_rng(0)
    return random.random((count, 1024), "float32"), random.random((count, 1), "float32")
