# expect: leak of about 2170000 bytes per iteration at tape_as_attribute_leaks.py:33; LW208 at 17,18,25
"""Truncated backpropagation gone wrong: one tape records the whole run."""
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(2)


class Estimator:
    """Keeps one persistent tape open, to ask for gradients at any time."""

    def __init__(self, size):
        self.weights = tf.Variable(tf.random.normal((size, size), stddev=0.01))
        self.open_tape()

    def open_tape(self):
        self.tape = tf.GradientTape(persistent=True)
        self.tape.__enter__()

    def loss(self, batch):
        out = tf.tanh(tf.matmul(batch, self.weights))
        return tf.reduce_mean(tf.square(out - batch))

    def update(self, batch):
        loss = self.loss(batch)
        with self.tape.stop_recording():
            gradient = self.tape.gradient(loss, self.weights)
            self.weights.assign_sub(0.1 * gradient)
        return loss


estimator = Estimator(128)
for step in range(16):
    batch = tf.constant(rng.normal(size=(1024, 128)), tf.float32)
    loss = estimator.update(batch)
    print("step", step, "loss", round(float(loss), 4))
