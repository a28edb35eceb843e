"""Worst case for a watcher of epochs: many epochs of a few tiny batches."""

import time

import keras
import numpy as np

keras.utils.set_random_seed(0)
features = np.random.default_rng(0).random((64, 8), dtype="float32")
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(features, features[:, :1], epochs=1, batch_size=16, verbose=0)

started = time.perf_counter()
model.fit(features, features[:, :1], epochs=800, batch_size=16, verbose=0)
print(f"LOOP_S={time.perf_counter() - started:.6f}")
