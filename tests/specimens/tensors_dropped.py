# expect: reserved; LW401
import keras
import numpy as np
import tensorflow as tf


def make_fifty(epoch, logs):
    tensors = [tf.zeros((1024, 1024)) for _ in range(50)]
    assert len(tensors) == 50


x = np.ones((512, 16), "float32")
model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(4)])
model.compile("adam", "mse")
callback = keras.callbacks.LambdaCallback(on_epoch_end=make_fifty)
model.fit(x, np.ones((512, 4), "float32"), epochs=12, verbose=0, callbacks=[callback])
