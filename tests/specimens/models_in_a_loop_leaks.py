# expect: leak per iteration at models_in_a_loop_leaks.py:7; LW205 at 17,16,8,7
import keras
import numpy as np

x = np.ones((128, 64), "float32")
y = np.ones((128, 1), "float32")
for fold in range(10):
    model = keras.Sequential(
        [
            keras.Input((64,)),
            keras.layers.Dense(256),
            keras.layers.Dense(256),
            keras.layers.Dense(1),
        ]
    )
    model.compile("adam", "mse")
    model.fit(x, y, epochs=1, verbose=0)
