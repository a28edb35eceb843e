# expect: leak of about 1940000 bytes per iteration at logged_under_tape_leaks.py:27; LW305 at 20 held by tape
"""An eager training loop that logs the features of every step, inside the tape's block."""
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(2)
w = tf.Variable(rng.normal(size=(16, 256)).astype("float32"))
head = tf.Variable(rng.normal(size=(256, 1)).astype("float32"))
norms = {}


def note_norm(features):
    norms["latest"] = float(tf.norm(features))
    return features


def step(x, y):
    with tf.GradientTape() as tape:
        features = tf.nn.relu(x @ w)
        tf.py_function(note_norm, [features], tf.float32)
        loss = tf.reduce_mean(tf.square(features @ head - y))
    for variable, gradient in zip((w, head), tape.gradient(loss, (w, head))):
        variable.assign_sub(np.float32(1e-3) * gradient)
    return loss


for epoch in range(14):
    for _ in range(8):
        x = tf.constant(rng.normal(size=(96, 16)).astype("float32"))
        loss = step(x, tf.reduce_sum(x, axis=1, keepdims=True))
    print("epoch", epoch, "loss", round(float(loss), 3), "norm", round(norms["latest"], 2))
