# expect: leak of about 883000 bytes per iteration at kept_tapes_leaks.py:33; LW208|LW102 at 27,22
"""Policy gradients by hand: the tape of every episode is kept for the update at the end."""
import numpy as np
import tensorflow as tf


class Policy:
    def __init__(self):
        self.first = tf.Variable(tf.random.normal((64, 128), stddev=0.1))
        self.second = tf.Variable(tf.random.normal((128, 4), stddev=0.1))

    def __call__(self, states):
        return tf.nn.softmax(tf.matmul(tf.tanh(tf.matmul(states, self.first)), self.second))


class Rollouts:
    def __init__(self, policy):
        self.policy = policy
        self.tapes = []

    def record(self, states, rewards):
        with tf.GradientTape(persistent=True) as tape:
            odds = self.policy(states)
            value = tf.reduce_mean(tf.math.log(odds[:, 0] + 1e-6) * rewards)
        for variable in (self.policy.first, self.policy.second):
            variable.assign_add(0.01 * tape.gradient(value, variable))
        self.tapes.append(tape)
        return value


rng = np.random.default_rng(0)
rollouts = Rollouts(Policy())
for episode in range(16):
    states = tf.constant(rng.normal(size=(1024, 64)), tf.float32)
    rewards = tf.constant(rng.normal(size=1024), tf.float32)
    value = rollouts.record(states, rewards)
    print("episode", episode, "value", round(float(value), 4))
