# expect: leak per iteration at eager_numbers_leaks.py:29; LW209|LW404 at 21,20,22,24,30,29
"""Simulated annealing in eager mode: temperatures and steps are plain Python numbers."""
import math
import random

import tensorflow as tf

random.seed(9)


class Annealer:
    def __init__(self, size):
        self.position = tf.Variable(tf.zeros(size))
        self.temperature = 10.0

    def sweep(self, steps):
        energy = 0.0
        for _ in range(steps):
            self.temperature *= 0.99995
            step = random.gauss(0.0, 1.0)
            candidate = self.position * self.temperature + step
            energy = float(tf.reduce_sum(candidate) / 7.0)
            if random.random() < math.exp(-abs(energy) / 1e3):
                self.position.assign_add(tf.ones_like(candidate) * random.uniform(-1e-3, 1e-3))
        return energy


annealer = Annealer(64)
for sweep in range(14):
    energy = annealer.sweep(400)
    print("sweep", sweep, "energy", round(energy, 3))
