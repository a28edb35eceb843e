# expect: no leak; fills until 1
"""A callback on every batch: the last three weight snapshots, in case a training diverges."""
from collections import deque

import keras
import numpy as np


class WeightWatcher(keras.callbacks.Callback):
    def __init__(self, every):
        super().__init__()
        self.every = every
        self.seen = 0
        self.snapshots = deque(maxlen=3)

    def on_train_batch_end(self, batch, logs=None):
        self.seen += 1
        if self.seen % self.every == 0:
            self.snapshots.append((self.seen, self.model.get_weights()))


x = np.random.default_rng(1).normal(size=(640, 64)).astype("float32")
model = keras.Sequential(
    [keras.Input((64,)), keras.layers.Dense(512, activation="relu"), keras.layers.Dense(64)]
)
model.compile(keras.optimizers.SGD(0.01), "mse")
watcher = WeightWatcher(every=4)
model.fit(x, x, batch_size=40, epochs=14, verbose=0, callbacks=[watcher])
