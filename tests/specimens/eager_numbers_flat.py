# expect: no leak
"""Simulated annealing in eager mode: temperatures and steps are tensors and variables."""
import random

import tensorflow as tf

random.seed(9)


class Annealer:
    def __init__(self, size):
        self.position = tf.Variable(tf.zeros(size))
        self.temperature = tf.Variable(10.0)
        self.cooling = tf.constant(0.99995)
        self.seven = tf.constant(7.0)

    def sweep(self, steps):
        energy = 0.0
        for _ in range(steps):
            self.temperature.assign(self.temperature * self.cooling)
            step = tf.random.normal(())
            candidate = self.position * self.temperature + step
            energy = float(tf.reduce_sum(candidate) / self.seven)
            self.position.assign_add(tf.random.normal(candidate.shape, stddev=1e-3))
        return energy


annealer = Annealer(64)
for sweep in range(14):
    energy = annealer.sweep(400)
    print("sweep", sweep, "energy", round(energy, 3))
