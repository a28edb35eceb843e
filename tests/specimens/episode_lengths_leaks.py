# expect: leak per iteration at episode_lengths_leaks.py:22; LW209 at 22
"""Policy gradients: the loss of an episode is the sum of as many terms as it had steps."""
import random

import numpy as np
import tensorflow as tf

random.seed(0)
states = np.random.default_rng(0).normal(size=(400, 4)).astype("float32")
policy = tf.Variable(np.zeros((4, 2), "float32"))


def loss_of(steps):
    losses = []
    for step in range(steps):
        logits = tf.constant(states[step : step + 1]) @ policy
        losses.append(tf.reduce_logsumexp(logits))
    return sum(losses)


lengths = random.sample(range(150, 250), 50)
for episode, steps in enumerate(lengths):
    with tf.GradientTape() as tape:
        loss = loss_of(steps)
    policy.assign_sub(1e-3 * tape.gradient(loss, policy))
    if episode % 10 == 0:
        print("episode", episode, "loss", round(float(loss), 3))
