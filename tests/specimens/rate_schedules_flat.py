# expect: no leak
"""Warm restarts: a schedule object of its own for every cycle, on one optimizer."""
import keras
import numpy as np
from keras import layers

x = np.random.default_rng(0).normal(size=(256, 32)).astype("float32")
y = x[:, :1]


class Restarts(keras.callbacks.Callback):
    def __init__(self, first_rate):
        super().__init__()
        self.first_rate = first_rate
        self.schedules = []

    def on_epoch_begin(self, epoch, logs=None):
        rate = self.first_rate / (1 + epoch)
        schedule = keras.optimizers.schedules.CosineDecay(rate, decay_steps=100)
        self.schedules.append(schedule)
        self.model.optimizer.learning_rate = float(schedule(0))


model = keras.Sequential([keras.Input((32,)), layers.Dense(64, activation="relu"), layers.Dense(1)])
model.compile(keras.optimizers.Adam(0.01), "mse")
model.fit(x, y, batch_size=64, epochs=16, verbose=0, callbacks=[Restarts(0.01)])
