"""A custom loop: one short `train_on_batch` call per iteration."""

import time

import keras
import numpy as np

keras.utils.set_random_seed(0)
features = np.random.default_rng(0).random((16, 8), dtype="float32")
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.train_on_batch(features, features[:, :1])

started = time.perf_counter()
for _step in range(24_000):
    model.train_on_batch(features, features[:, :1])
print(f"LOOP_S={time.perf_counter() - started:.6f}")
