# expect: no leak
"""A callback that keeps the latest predictions, and a number per epoch."""
import keras
import numpy as np
from keras import layers


class ValidationRecorder(keras.callbacks.Callback):
    """Remembers how far predictions moved since the epoch before."""

    def __init__(self, images, batch_size=256):
        super().__init__()
        self.images = images
        self.batch_size = batch_size
        self.latest = None
        self.moved = {}

    def on_epoch_end(self, epoch, logs=None):
        outputs = []
        for start in range(0, len(self.images), self.batch_size):
            batch = self.images[start : start + self.batch_size]
            outputs.append(np.asarray(self.model(batch, training=False)))
        before, self.latest = self.latest, np.concatenate(outputs)
        if before is not None:
            self.moved[epoch] = float(np.abs(self.latest - before).mean())


def build():
    inputs = keras.Input((32,))
    outputs = layers.Dense(512)(layers.Dense(16, activation="relu")(inputs))
    return keras.Model(inputs, outputs)


def main():
    rng = np.random.default_rng(0)
    images = rng.normal(size=(1024, 32)).astype("float32")
    model = build()
    model.compile("adam", "mse")
    recorder = ValidationRecorder(images)
    model.fit(images, rng.normal(size=(1024, 512)), epochs=12, verbose=0, callbacks=[recorder])
    print(len(recorder.moved), "epochs recorded")


if __name__ == "__main__":
    main()
