# expect: no leak
"""Hundreds of epochs whose metrics are all kept, as numbers."""
import keras
import numpy as np
from keras import layers

x = np.random.default_rng(0).normal(size=(64, 8)).astype("float32")
y = x.sum(axis=1, keepdims=True)
model = keras.Sequential([keras.Input((8,)), layers.Dense(16, activation="relu"), layers.Dense(1)])
model.compile("sgd", "mse", metrics=["mae"])
curves = []
for stage in range(12):
    history = model.fit(x, y, epochs=10, batch_size=64, verbose=0, validation_data=(x, y))
    curves.append({name: [float(v) for v in values] for name, values in history.history.items()})
print(sum(len(curve["loss"]) for curve in curves), "epochs")
