# expect: leak of about 2097152 bytes per iteration at generator_pipeline_per_epoch_leaks.py:31; LW304|LW303 at 24,20,33,19
"""Each epoch reads a fresh shard of spectrograms through a generator."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers

SIGNATURE = (
    tf.TensorSpec((64, 32), tf.float32),
    tf.TensorSpec((), tf.float32),
)


def load_shard(number):
    rng = np.random.default_rng(number)
    return rng.normal(size=(256, 64, 32)).astype("float32")


def pipeline(shard):
    def samples():
        for spectrogram in shard:
            yield spectrogram, spectrogram.mean()

    return tf.data.Dataset.from_generator(samples, output_signature=SIGNATURE).batch(64)


model = keras.Sequential(
    [keras.Input((64, 32)), layers.Conv1D(8, 5, strides=2), layers.GlobalAveragePooling1D(), layers.Dense(1)]
)
model.compile("sgd", "mse")
for shard_number in range(14):
    shard = load_shard(shard_number)
    model.fit(pipeline(shard), epochs=1, verbose=0)
