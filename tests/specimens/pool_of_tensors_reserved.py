# expect: no leak; LW401
"""Evaluation makes large temporaries at every epoch; the allocator keeps what was freed."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers


class PairwiseDistances(keras.callbacks.Callback):
    """The spread of the embeddings, computed from all pairs at once."""

    def __init__(self, inputs):
        super().__init__()
        self.inputs = inputs
        self.spread = []

    def on_epoch_end(self, epoch, logs=None):
        embedded = self.model(self.inputs)
        parts = [
            tf.square(embedded[:, None, column] - embedded[None, :, column])
            for column in range(24)
        ]
        self.spread.append(float(tf.reduce_max(tf.add_n(parts))))


x = np.random.default_rng(0).normal(size=(1500, 16)).astype("float32")
model = keras.Sequential([keras.Input((16,)), layers.Dense(24)])
model.compile("sgd", "mse")
model.fit(x, np.zeros((1500, 24)), epochs=12, verbose=0, callbacks=[PairwiseDistances(x)])
