# expect: no leak
import keras
import numpy as np

x = np.ones((128, 64), "float32")
y = np.ones((128, 1), "float32")
model = keras.Sequential(
    [keras.Input((64,)), keras.layers.Dense(256), keras.layers.Dense(256), keras.layers.Dense(1)]
)
model.compile("adam", "mse")
for fold in range(10):
    model.fit(x, y, epochs=1, verbose=0)
