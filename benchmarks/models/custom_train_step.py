"""A variational autoencoder: a subclass of `Model` with a `train_step` of its own."""

import keras
import numpy as np
import tensorflow as tf


class Autoencoder(keras.Model):
    def __init__(self):
        super().__init__()
        layers = keras.layers
        self.encoder = keras.Sequential(
            [
                layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
                layers.Conv2D(64, 3, strides=2, padding="same", activation="relu"),
                layers.Flatten(),
                layers.Dense(2 * 32),
            ]
        )
        self.decoder = keras.Sequential(
            [
                layers.Dense(12 * 12 * 64, activation="relu"),
                layers.Reshape((12, 12, 64)),
                layers.Conv2DTranspose(32, 3, strides=2, padding="same", activation="relu"),
                layers.Conv2DTranspose(1, 3, strides=2, padding="same", activation="sigmoid"),
            ]
        )
        self.noise = keras.random.SeedGenerator(0)

    def call(self, images):
        mean, spread = keras.ops.split(self.encoder(images), 2, axis=-1)
        drawn = keras.random.normal(keras.ops.shape(mean), seed=self.noise)
        return self.decoder(mean + keras.ops.exp(spread) * drawn), mean, spread

    def train_step(self, data):
        images, _, _ = keras.utils.unpack_x_y_sample_weight(data)
        with tf.GradientTape() as tape:
            drawn, mean, spread = self(images, training=True)
            missed = tf.reduce_sum(tf.square(images - drawn), axis=(1, 2, 3))
            far = tf.reduce_sum(tf.square(mean) + tf.exp(spread) - spread, axis=-1)
            loss = tf.reduce_mean(missed + far)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(gradients, self.trainable_variables)
        return {"loss": loss}


def build():
    model = Autoencoder()
    model.compile("adam")
    return model


def data(count):
    return np.random.default_rng(0).random((count, 48, 48, 1), "float32"), None
