# expect: no leak; LW302
"""A shuffle buffer as large as the data set, filled with decoded images in the first epochs."""
import keras
import tensorflow as tf
from keras import layers

IMAGES, SIZE, STEPS = 2000, 48, 12


def decode(index):
    seed = tf.stack([index, index + 1])
    image = tf.random.stateless_uniform((SIZE, SIZE, 3), seed)
    return image, tf.reduce_mean(image)


data = (
    tf.data.Dataset.range(IMAGES)
    .map(decode, num_parallel_calls=2)
    .shuffle(IMAGES)
    .repeat()
    .batch(16)
    .prefetch(2)
)
model = keras.Sequential(
    [keras.Input((SIZE, SIZE, 3)), layers.GlobalAveragePooling2D(), layers.Dense(1)]
)
model.compile("sgd", "mse")
model.fit(data, steps_per_epoch=STEPS, epochs=12, verbose=0)
