# expect: leak of about 2220000 bytes per iteration at shuffle_buffer_outgrows_leaks.py:36; LW302|LW102 at 14,27,15
"""Self-play: every generation opens a new stream with a buffer of its own, and none is closed."""
import numpy as np
import tensorflow as tf


class Stream:
    """Positions of one generation of players, shuffled."""

    def __init__(self, generation):
        self.generation = generation
        data = tf.data.Dataset.range(4_000)
        data = data.map(self.position)
        self.data = data.shuffle(500).batch(32)
        self.batches = iter(self.data)

    def position(self, index):
        board = tf.random.stateless_uniform((19, 19, 2), tf.stack([index, index]))
        return board + float(self.generation)


class League:
    def __init__(self):
        self.streams = []

    def add(self, generation):
        self.streams.append(Stream(generation))

    def batch(self):
        chosen = self.streams[-3:]
        return np.concatenate([next(stream.batches) for stream in chosen])


league = League()
mean = 0.0
for generation in range(14):
    league.add(generation)
    for _ in range(2):
        mean = float(league.batch().mean())
print("mean", round(mean, 3))
