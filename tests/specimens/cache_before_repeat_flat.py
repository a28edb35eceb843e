# expect: no leak; fills until 3
"""Cache, repeat, then augment: the cache is full after one pass."""
import keras
import tensorflow as tf
from keras import layers

SIZE, STEPS = 48, 8


def augment(seed):
    image = tf.random.stateless_uniform((SIZE, SIZE, 3), tf.stack([seed, seed]))
    image = tf.image.random_flip_left_right(image)
    return image, tf.reduce_mean(image)


def training_data(batch_size):
    data = tf.data.Dataset.range(128)
    data = data.map(augment)
    data = data.cache()
    data = data.repeat()
    return data.batch(batch_size)


model = keras.Sequential(
    [keras.Input((SIZE, SIZE, 3)), layers.GlobalAveragePooling2D(), layers.Dense(1)]
)
model.compile("sgd", "mse")
model.fit(training_data(8), steps_per_epoch=STEPS, epochs=14, verbose=0)
