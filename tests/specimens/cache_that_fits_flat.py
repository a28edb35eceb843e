# expect: no leak; fills until 1; LW301
"""Decoded once, cached, shuffled anew in each epoch: the pipeline of the guide."""
import keras
import tensorflow as tf
from keras import layers

SIZE = 40


def decode(index):
    image = tf.random.stateless_uniform((SIZE, SIZE, 3), tf.stack([index, index]))
    return image, tf.cast(index % 2, tf.float32)


def pipelines():
    indices = tf.data.Dataset.range(700)
    training, validation = indices.take(600), indices.skip(600)
    return (
        training.map(decode).cache().shuffle(100).batch(50).prefetch(1),
        validation.map(decode).cache().batch(50),
    )


def main():
    training, validation = pipelines()
    model = keras.Sequential(
        [keras.Input((SIZE, SIZE, 3)), layers.AveragePooling2D(8), layers.Flatten(), layers.Dense(1)]
    )
    model.compile("sgd", "mse")
    model.fit(training, validation_data=validation, epochs=12, verbose=0)


main()
