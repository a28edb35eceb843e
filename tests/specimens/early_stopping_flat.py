# expect: no leak
"""The callbacks that every training has: best weights kept, rate lowered, epochs logged."""
import os
import tempfile

import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(0)
x = rng.normal(size=(512, 64)).astype("float32")
y = (x[:, :8].sum(axis=1, keepdims=True) > 0).astype("float32")
model = keras.Sequential([keras.Input((64,)), layers.Dense(512, "relu"), layers.Dense(1, "sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
with tempfile.TemporaryDirectory() as folder:
    history = model.fit(
        x,
        y,
        validation_split=0.25,
        epochs=16,
        verbose=0,
        callbacks=[
            keras.callbacks.EarlyStopping(patience=20, restore_best_weights=True),
            keras.callbacks.ReduceLROnPlateau(patience=2),
            keras.callbacks.CSVLogger(os.path.join(folder, "log.csv")),
            keras.callbacks.ModelCheckpoint(
                os.path.join(folder, "best.weights.h5"), save_best_only=True, save_weights_only=True
            ),
        ],
    )
print("epochs", len(history.history["loss"]))
