# expect: no leak
"""Checks batches with a `py_function` inside of one traced function: it is registered once."""

import numpy as np
import tensorflow as tf


def is_finite(batch):
    return np.isfinite(batch.numpy()).all()


@tf.function
def check(batch):
    return tf.py_function(is_finite, [batch], tf.bool)


def load(step):
    rng = np.random.default_rng(step)
    return rng.random((64, 32), "float32")


passed = 0
for step in range(40):
    batch = tf.constant(load(step))
    passed += int(check(batch)) + int(check(-batch))
print(passed)
