# expect: leak of 4194304 bytes per epoch; LW101 at 14 held by BadCallback.saved
import keras
import numpy as np


class BadCallback(keras.callbacks.Callback):
    def __init__(self, x):
        super().__init__()
        self.x = x
        self.saved = []

    def on_epoch_end(self, epoch, logs=None):
        preds = self.model.predict(self.x, verbose=0)
        self.saved.append(preds)


x = np.ones((4096, 16), "float32")
model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(256)])
model.compile("adam", "mse")
model.fit(x, np.ones((4096, 256), "float32"), epochs=12, verbose=0, callbacks=[BadCallback(x)])
