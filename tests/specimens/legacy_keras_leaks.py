# expect: leak of 4194304 bytes per epoch; LW102|LW101 at 10 held by kept
import numpy as np
import tf_keras as keras

kept = []
x = np.ones((512, 16), "float32")
model = keras.Sequential([keras.layers.Dense(4)])
model.compile("adam", "mse")
callback = keras.callbacks.LambdaCallback(
    on_epoch_end=lambda epoch, logs: kept.append(np.ones((1024, 1024), "float32"))
)
model.fit(x, np.ones((512, 4), "float32"), epochs=12, verbose=0, callbacks=[callback])
