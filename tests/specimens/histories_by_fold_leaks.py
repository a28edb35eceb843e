# expect: leak of about 1090000 bytes per iteration at histories_by_fold_leaks.py:35; LW103|LW201 at 26,25,23 held by histories
"""Comparing optimizers: one History per run is kept for the plots."""
import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(0)
x = rng.normal(size=(256, 64)).astype("float32")
y = x[:, :1] * 2


class Comparison:
    def __init__(self):
        self.histories = {}

    def network(self):
        inputs = keras.Input((64,))
        hidden = layers.Dense(448, activation="relu")(inputs)
        hidden = layers.Dense(448, activation="relu")(hidden)
        return keras.Model(inputs, layers.Dense(1)(hidden))

    def run(self, name, optimizer):
        model = self.network()
        model.compile(optimizer, "mse", run_eagerly=True)
        history = model.fit(x, y, epochs=1, batch_size=128, verbose=0)
        self.histories[name] = history


def candidates():
    for number, rate in enumerate(np.geomspace(1e-4, 1e-1, 14)):
        yield f"sgd-{number}", keras.optimizers.SGD(float(rate))


comparison = Comparison()
for name, optimizer in candidates():
    comparison.run(name, optimizer)
    keras.utils.clear_session()
best = min(comparison.histories.items(), key=lambda item: item[1].history["loss"][-1])
print("best", best[0])
