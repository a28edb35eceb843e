# expect: leak of 4194304 bytes per epoch; LW102|LW101 at 11 held by kept
import keras
import numpy as np
import tensorflow as tf

kept = []
x = np.ones((512, 16), "float32")
model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(4)])
model.compile("adam", "mse")
callback = keras.callbacks.LambdaCallback(
    on_epoch_end=lambda epoch, logs: kept.append(tf.random.normal((1024, 1024)))
)
model.fit(x, np.ones((512, 4), "float32"), epochs=14, verbose=0, callbacks=[callback])
