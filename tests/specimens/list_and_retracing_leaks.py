# expect: leak of about 3260000 bytes per iteration at list_and_retracing_leaks.py:39; LW102 at 32 held by Session.frames; LW202 at 16,17,34
"""A policy with two flaws: its step is traced for every Python number, and frames are kept."""
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)


class Policy:
    def __init__(self):
        self.weights = tf.Variable(tf.random.normal((400, 4), stddev=0.1))

    def act(self, frame):
        return int(tf.argmax(tf.linalg.matvec(self.weights, frame, transpose_a=True)))

    @tf.function
    def update(self, frame, reward, temperature):
        logits = tf.linalg.matvec(self.weights, frame, transpose_a=True) / temperature
        step = tf.nn.softmax(logits) * reward
        self.weights.assign_add(0.001 * tf.tensordot(frame, step, 0))
        return tf.reduce_max(logits)


class Session:
    def __init__(self, policy):
        self.policy = policy
        self.frames = []
        self.temperature = 2.0

    def step(self):
        frame = rng.random((64, 400), dtype=np.float32)
        self.frames.append(frame)
        self.policy.act(frame[0])
        return self.policy.update(tf.constant(frame[0]), tf.constant(1.0), self.temperature)


session = Session(Policy())
best = 0.0
for episode in range(14):
    for step in range(8):
        best = max(best, float(session.step()))
        session.temperature *= 0.999
    print("episode", episode, "best", round(best, 3))
