# expect: leak per iteration at tuning_train_step_leaks.py:41; LW205|LW207 at 23,35,33,24,12,43
"""Random search over learning rates with a hand-written training step."""
import random

import keras
import numpy as np
import tensorflow as tf


class Trial:
    def __init__(self, units, rate):
        self.net = keras.Sequential(
            [
                keras.Input((24,)),
                keras.layers.Dense(units, activation="tanh"),
                keras.layers.Dense(units, activation="tanh"),
                keras.layers.Dense(3),
            ]
        )
        self.optimizer = keras.optimizers.Adam(rate)
        self.loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss(y, self.net(x, training=True))
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss


def objective(config, x, y):
    trial = Trial(**config)
    for start in range(0, len(x), 100):
        loss = trial.step(x[start : start + 100], y[start : start + 100])
    return float(loss)


def search(x, y, budget=12):
    best = (float("inf"), None)
    for number in range(budget):
        config = {"units": 128, "rate": 10 ** random.uniform(-4, -2)}
        loss = objective(config, x, y)
        best = min(best, (loss, number))
    return best


if __name__ == "__main__":
    random.seed(4)
    rng = np.random.default_rng(4)
    data = tf.constant(rng.normal(size=(400, 24)), tf.float32)
    labels = tf.constant(rng.integers(0, 3, 400))
    print("best", search(data, labels))
