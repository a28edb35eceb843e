# expect: no leak
import keras
import numpy as np

inputs = keras.Input((10,))
model = keras.Model(inputs, keras.layers.Dense(2)(keras.layers.Dense(32)(inputs)))
x = np.zeros((1, 10), "float32")
for request in range(12):
    for _ in range(20):
        model.predict(x, verbose=0)
