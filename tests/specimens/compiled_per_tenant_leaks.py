# expect: leak; LW210 at 22,27 held by XLA
"""A service that scores requests; every tenant gets a function of its own, compiled by XLA."""
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(5)
mean = tf.constant(rng.normal(size=16).astype("float32"))


class Scorer:
    def __init__(self, scale):
        self.scale = scale
        self.score = None

    def prepare(self):
        scale = self.scale

        def score(x):
            centred = tf.nn.relu((x - mean) * scale)
            return tf.reduce_sum(tf.nn.softmax(centred) * centred, axis=-1)

        self.score = tf.function(score, jit_compile=True)

    def __call__(self, requests):
        if self.score is None:
            self.prepare()
        return self.score(requests)


requests = tf.constant(rng.normal(size=(64, 16)).astype("float32"))
for batch in range(14):
    total = 0.0
    for tenant in range(4):
        total += float(tf.reduce_sum(Scorer(1.0 + tenant)(requests)))
    print("batch", batch, "total", round(total, 3))
