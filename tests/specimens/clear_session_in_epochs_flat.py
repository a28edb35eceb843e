# expect: no leak; LW206 at 17
"""A training loop that clears the session after every epoch of the model it is training."""
import gc

import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(0)
x = rng.normal(size=(512, 24)).astype("float32")
y = rng.normal(size=(512, 1)).astype("float32")

model = keras.Sequential([keras.Input((24,)), layers.Dense(64, "relu"), layers.Dense(1)])
model.compile("adam", "mse")
for epoch in range(14):
    history = model.fit(x, y, batch_size=128, epochs=1, verbose=0)
    keras.backend.clear_session()
    gc.collect()
    print("epoch", epoch, "loss", round(history.history["loss"][0], 4))
