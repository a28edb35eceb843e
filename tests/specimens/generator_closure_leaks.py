# expect: leak of about 983040 bytes per epoch; LW303 at 20 held by window
"""A generator with a window over the past that it forgets to cut."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers

FEATURES, STEPS = 512, 10


def sensor(seed=0):
    rng = np.random.default_rng(seed)
    while True:
        yield rng.normal(size=(48, FEATURES)).astype("float32")


def windows(source, length=3):
    window = []
    for reading in source:
        window.append(reading)
        if len(window) >= length:
            past = np.mean(window[-length:], axis=0)
            yield past, past[:, :1] * 0.5


data = tf.data.Dataset.from_generator(
    lambda: windows(sensor()),
    output_signature=(tf.TensorSpec((48, FEATURES)), tf.TensorSpec((48, 1))),
)
model = keras.Sequential([keras.Input((FEATURES,)), layers.Dense(4), layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(data, steps_per_epoch=STEPS, epochs=24, verbose=0)
