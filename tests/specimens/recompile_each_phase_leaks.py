# expect: leak per iteration at recompile_each_phase_leaks.py:28; LW207|LW205 at 23,24
"""Gradual unfreezing: the network is compiled again whenever the trainable layers change."""
import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(0)
x = rng.normal(size=(256, 20)).astype("float32")
y = (x[:, 0] > 0).astype("float32")

backbone = [layers.Dense(32, activation="relu", name=f"block{i}") for i in range(4)]
model = keras.Sequential([keras.Input((20,)), *backbone, layers.Dense(1, activation="sigmoid")])


def unfreeze(phase):
    for depth, layer in enumerate(backbone):
        layer.trainable = depth >= 3 - phase % 4


def train_phase(phase):
    unfreeze(phase)
    rate = 1e-3 / (1 + phase)
    model.compile(keras.optimizers.SGD(rate), "binary_crossentropy")
    return model.fit(x, y, epochs=1, batch_size=128, verbose=0).history["loss"][-1]


losses = []
for phase in range(12):
    loss = train_phase(phase)
    losses.append(loss)
    print("phase", phase, "loss", round(loss, 4))
