"""Two LSTM layers over a time series."""

import keras
import numpy as np


def build():
    model = keras.Sequential(
        [
            keras.Input((100, 16)),
            keras.layers.LSTM(128, return_sequences=True),
            keras.layers.LSTM(64),
            keras.layers.Dense(1),
        ]
    )
    model.compile("adam", "mse")
    return model


def data(count):
    random = np.random.default_rng(0)
    return random.random((count, 100, 16), "float32"), random.random((count, 1), "float32")
