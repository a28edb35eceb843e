"""A U-Net of three levels for the segmentation of images."""

import keras
import numpy as np


def _twice(inputs, width):
    for _ in range(2):
        inputs = keras.layers.Conv2D(width, 3, padding="same", activation="relu")(inputs)
    return inputs


def build():
    inputs = hidden = keras.Input((64, 64, 3))
    kept = []
    for width in (16, 32, 64):
        hidden = _twice(hidden, width)
        kept.append(hidden)
        hidden = keras.layers.MaxPooling2D()(hidden)
    hidden = _twice(hidden, 128)
    for width, same_size in zip((64, 32, 16), reversed(kept), strict=True):
        larger = keras.layers.Conv2DTranspose(width, 2, strides=2)(hidden)
        hidden = _twice(keras.layers.Concatenate()([larger, same_size]), width)
    model = keras.Model(inputs, keras.layers.Conv2D(1, 1, activation="sigmoid")(hidden))
    model.compile("adam", "binary_crossentropy")
    return model


def data(count):
    random = np.random.default_rng(0)
    images = random.random((count, 64, 64, 3), "float32")
    return images, random.integers(0, 2, (count, 64, 64, 1)).astype("float32")
