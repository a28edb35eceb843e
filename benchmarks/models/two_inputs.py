"""A functional model with two inputs, an image and a table, and two outputs."""

import keras
import numpy as np


def build():
    layers = keras.layers
    image = keras.Input((48, 48, 1), name="image")
    table = keras.Input((32,), name="table")
    seen = layers.Conv2D(32, 3, activation="relu")(image)
    seen = layers.Conv2D(64, 3, strides=2, activation="relu")(seen)
    seen = layers.GlobalMaxPooling2D()(seen)
    known = layers.Dense(256, activation="relu")(table)
    both = layers.Dense(256, activation="relu")(layers.Concatenate()([seen, known]))
    price = layers.Dense(1, name="price")(both)
    kind = layers.Dense(5, activation="softmax", name="kind")(both)
    model = keras.Model({"image": image, "table": table}, {"price": price, "kind": kind})
    model.compile("adam", {"price": "mse", "kind": "sparse_categorical_crossentropy"})
    return model


def data(count):
    random = np.random.default_rng(0)
    x = {
        "image": random.random((count, 48, 48, 1), "float32"),
        "table": random.random((count, 32), "float32"),
    }
    y = {"price": random.random((count, 1), "float32"), "kind": random.integers(0, 5, count)}
    return x, y
