# expect: no leak
"""Policy gradients: all steps of an episode go through the model as one batch."""
import random

import numpy as np
import tensorflow as tf

random.seed(0)
states = np.random.default_rng(0).normal(size=(400, 4)).astype("float32")
policy = tf.Variable(np.zeros((4, 2), "float32"))


def loss_of(steps):
    logits = tf.constant(states[:steps]) @ policy
    return tf.reduce_sum(tf.reduce_logsumexp(logits, axis=1))


lengths = random.sample(range(150, 250), 50)
for episode, steps in enumerate(lengths):
    with tf.GradientTape() as tape:
        loss = loss_of(steps)
    policy.assign_sub(1e-3 * tape.gradient(loss, policy))
    if episode % 10 == 0:
        print("episode", episode, "loss", round(float(loss), 3))
