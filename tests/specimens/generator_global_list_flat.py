# expect: no leak
"""The same generator, which notes the mean of every batch that it hands out."""
import keras
import numpy as np
from keras import layers

BATCH, FEATURES, STEPS = 32, 1024, 8
means = []


def batches():
    rng = np.random.default_rng(0)
    while True:
        x = rng.normal(size=(BATCH, FEATURES)).astype("float32")
        y = x[:, :1] * 3
        # For the plot at the end.
        means.append(float(x.mean()))
        yield x, y


model = keras.Sequential([keras.Input((FEATURES,)), layers.Dense(512, "relu"), layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(batches(), steps_per_epoch=STEPS, epochs=80, verbose=0)
print("batches served", len(means))
