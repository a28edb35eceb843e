# expect: leak per iteration at lambda_functions_kept_leaks.py:31; LW207|LW102 at 19,22,20,35
"""Feature search: each candidate becomes a compiled function, and all of them are kept."""
import random

import numpy as np
import tensorflow as tf

random.seed(8)
table = tf.constant(np.random.default_rng(8).normal(size=(400, 6)), tf.float32)
goal = tf.reduce_sum(table[:, :2], axis=1)


class Search:
    def __init__(self):
        self.compiled = {}
        self.best = (0.0, "")

    def compile(self, name, columns, power):
        candidate = tf.function(
            lambda t: tf.reduce_sum(tf.abs(tf.gather(t, columns, axis=1)) ** power, axis=1)
        )
        self.compiled[name] = candidate
        return candidate

    def correlation(self, values):
        a, b = values - tf.reduce_mean(values), goal - tf.reduce_mean(goal)
        return float(tf.reduce_sum(a * b) / (tf.norm(a) * tf.norm(b) + 1e-9))


search = Search()
for generation in range(14):
    for member in range(4):
        columns, power = random.sample(range(6), 3), 0.5 + random.random()
        name = f"g{generation}m{member}"
        score = search.correlation(search.compile(name, columns, power)(table))
        search.best = max(search.best, (abs(score), name))
print(search.best)
