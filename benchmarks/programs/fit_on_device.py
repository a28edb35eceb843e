"""Many epochs of a few tiny batches, with the variables on a device, whose driver is asked too."""

import time

import keras
import numpy as np
import tensorflow as tf

for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, enable=True)
keras.utils.set_random_seed(0)
features = np.random.default_rng(0).random((64, 8), dtype="float32")
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
# There is no XLA compiler for the device that the tests play.
model.compile("adam", "mse", jit_compile=False)
model.fit(features, features[:, :1], epochs=1, batch_size=16, verbose=0)
assert "GPU:0" in model.weights[0].value.device

started = time.perf_counter()
model.fit(features, features[:, :1], epochs=400, batch_size=16, verbose=0)
print(f"LOOP_S={time.perf_counter() - started:.6f}")
