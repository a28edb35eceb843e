# expect: no leak
import keras
import numpy as np


class BetterCallback(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.means = []

    def on_epoch_end(self, epoch, logs=None):
        self.means.append(float(logs.get("loss", 0.0)))


x = np.ones((4096, 16), "float32")
model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(256)])
model.compile("adam", "mse")
model.fit(x, np.ones((4096, 256), "float32"), epochs=6, verbose=0, callbacks=[BetterCallback()])
