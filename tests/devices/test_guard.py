"""`lowwater run --guard` where it is the memory of the device that runs out."""

import pytest

pytestmark = pytest.mark.devices

MIB = 1 << 20
LEAKS = """
import keras, numpy as np, tensorflow as tf

class Keeps(keras.callbacks.Callback):
    saved = []

    def on_epoch_end(self, epoch, logs=None):
        with tf.device("GPU:0"):
            self.saved.append(tf.ones(10 << 18))

x, y = np.ones((32, 64), "float32"), np.ones((32, 1), "float32")
model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(64), keras.layers.Dense(1)])
model.compile("adam", "mse", jit_compile=False)
history = model.fit(x, y, epochs=100, verbose=0, callbacks=[Keeps()])
print(len(history.epoch))
del Keeps.saved[:]
print(int(keras.models.load_model("lowwater-rescue.keras").optimizer.iterations))
"""


def test_leak_on_the_device_is_ended_and_saved(hostgpu, programs):
    report, done = programs.watch(LEAKS, hostgpu(455 * MIB).environment(), "--guard")

    guarded = report["guard"]
    epochs = guarded["epochs_completed"]
    assert done.returncode == 6, done.stderr
    assert done.stdout == f"{epochs}\n{epochs}\n"
    assert (guarded["place"], guarded["limit"]) == ("GPU:0", "GPU:0 pool")
    assert 10 * MIB < guarded["left_bytes"] < 40 * MIB
