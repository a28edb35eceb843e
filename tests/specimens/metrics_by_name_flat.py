# expect: no leak
"""Custom loop: the usual `logs` dict of lists, all of them numbers."""
from collections import defaultdict

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
weights = tf.Variable(tf.random.normal((128, 256), stddev=0.05))
optimizer = tf.keras.optimizers.SGD(0.01)


def train_step(batch):
    with tf.GradientTape() as tape:
        outputs = tf.matmul(batch, weights)
        loss = tf.reduce_mean(tf.square(outputs - 1.0))
    optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
    return loss, outputs


def note(logs, loss, outputs):
    logs["loss"].append(float(loss))
    logs["outputs"].append(float(tf.reduce_mean(outputs)))


def main():
    logs = defaultdict(list)
    for epoch in range(14):
        for _ in range(2):
            batch = tf.constant(rng.normal(size=(512, 128)), tf.float32)
            note(logs, *train_step(batch))
        print("epoch", epoch, "loss", round(logs["loss"][-1], 4))


main()
