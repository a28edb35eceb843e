# expect: no leak
"""Phases of one training: compiled once, and only the learning rate changes."""
import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(0)
x = rng.normal(size=(256, 20)).astype("float32")
y = (x[:, 0] > 0).astype("float32")

backbone = [layers.Dense(32, activation="relu", name=f"block{i}") for i in range(4)]
model = keras.Sequential([keras.Input((20,)), *backbone, layers.Dense(1, activation="sigmoid")])
model.compile(keras.optimizers.SGD(1e-3), "binary_crossentropy")


def train_phase(phase):
    model.optimizer.learning_rate = 1e-3 / (1 + phase)
    return model.fit(x, y, epochs=1, batch_size=128, verbose=0).history["loss"][-1]


losses = []
for phase in range(12):
    loss = train_phase(phase)
    losses.append(loss)
    print("phase", phase, "loss", round(loss, 4))
