# expect: leak per iteration at callback_and_models_leaks.py:40; LW101|LW102 at 17 held by EpochOutputs.outputs; LW205 at 34,32,33,21,41
"""Trials with a fresh network each, watched by one callback that keeps every output."""
import keras
import numpy as np
from keras import layers


class EpochOutputs(keras.callbacks.Callback):
    """Shared by all trials, so that their outputs can be compared."""

    def __init__(self, probe):
        super().__init__()
        self.probe = probe
        self.outputs = []

    def on_epoch_end(self, epoch, logs=None):
        self.outputs.append(np.asarray(self.model(self.probe)))


def build(width):
    return keras.Sequential(
        [keras.Input((8,)), layers.Dense(width, activation="relu"), layers.Dense(512)]
    )


rng = np.random.default_rng(0)
x = rng.normal(size=(1024, 8)).astype("float32")
y = rng.normal(size=(1024, 512)).astype("float32")


def trial(width, outputs):
    model = build(width)
    model.compile("adam", "mse")
    model.fit(x, y, batch_size=512, epochs=1, verbose=0, callbacks=[outputs])
    return float(np.square(outputs.outputs[-1] - y).mean())


outputs = EpochOutputs(x)
results = {}
for number in range(12):
    results[number] = trial(8 + number, outputs)
    keras.utils.clear_session()
print("best", min(results, key=results.get))
