# expect: leak of 1182816 bytes per iteration at seen_samples_set_leaks.py:35; LW102 at 22 held by Deduplicator.seen
"""Deduplicating a stream of images: whole images serve as keys of a set."""
from collections import deque

import numpy as np
import tensorflow as tf


class Deduplicator:
    def __init__(self):
        self.seen = set()
        self.recent = deque(maxlen=8)
        self.duplicates = 0

    def filter(self, images):
        fresh = []
        for image in images:
            key = image.tobytes()
            if key in self.seen:
                self.duplicates += 1
                continue
            self.seen.add(key)
            self.recent.append(float(image.mean()))
            fresh.append(image)
        return np.stack(fresh)


def train(images, weights):
    batch = tf.reshape(tf.constant(images, tf.float32), (len(images), -1)) / 255.0
    weights.assign_add(tf.reduce_mean(batch, axis=0) * 0.01)


rng = np.random.default_rng(1)
weights, dedup = tf.Variable(tf.zeros(64 * 64 * 3)), Deduplicator()
for shard in range(14):
    images = rng.integers(0, 256, (96, 64, 64, 3), dtype=np.uint8)
    train(dedup.filter(images), weights)
    print("shard", shard, "duplicates", dedup.duplicates)
