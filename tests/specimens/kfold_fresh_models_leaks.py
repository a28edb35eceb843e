# expect: leak per iteration at kfold_fresh_models_leaks.py:31; LW205 at 24,22,23,33
"""Cross-validation as in every tutorial: a fresh network per fold, cleaned up behind it."""
import gc

import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(1)
features = rng.normal(size=(600, 32)).astype("float32")
target = (features[:, :4].sum(axis=1) > 0).astype("float32")


def make_network(width):
    inputs = keras.Input((32,))
    hidden = layers.Dense(width, activation="relu")(inputs)
    hidden = layers.Dense(width, activation="relu")(hidden)
    return keras.Model(inputs, layers.Dense(1, activation="sigmoid")(hidden))


def train_fold(train, held_out):
    network = make_network(192)
    network.compile("adam", "binary_crossentropy")
    network.fit(features[train], target[train], epochs=1, batch_size=200, verbose=0)
    guess = network(features[held_out]).numpy().ravel() > 0.5
    return float((guess == target[held_out]).mean())


folds = np.array_split(rng.permutation(len(features)), 10)
scores = []
for held_out in folds:
    train = np.setdiff1d(np.arange(len(features)), held_out)
    scores.append(train_fold(train, held_out))
    keras.utils.clear_session()
    gc.collect()
print("accuracy", np.mean(scores))
