"""Large tables of embeddings, as recommenders have them; a batch touches few of the rows."""

import keras
import numpy as np

USERS, ITEMS, WIDTH = 200_000, 100_000, 32


def build():
    user = keras.Input((1,), dtype="int32", name="user")
    items = keras.Input((50,), dtype="int32", name="items")
    layers = keras.layers
    who = layers.Flatten()(layers.Embedding(USERS, WIDTH)(user))
    what = layers.GlobalAveragePooling1D()(layers.Embedding(ITEMS, WIDTH)(items))
    hidden = layers.Dense(128, activation="relu")(layers.Concatenate()([who, what]))
    model = keras.Model({"user": user, "items": items}, layers.Dense(1)(hidden))
    model.compile("adam", "mse")
    return model


def data(count):
    random = np.random.default_rng(0)
    x = {
        "user": random.integers(0, USERS, (count, 1)).astype("int32"),
        "items": random.integers(0, ITEMS, (count, 50)).astype("int32"),
    }
    return x, random.random((count, 1), "float32")
