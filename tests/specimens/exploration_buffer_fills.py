# expect: no leak; fills until 6
"""Rollouts in a ring buffer that is allocated in blocks while it fills, then overwritten."""
from collections import deque

import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(3)
critic = keras.Sequential([keras.Input((256,)), layers.Dense(16, activation="relu"), layers.Dense(1)])
critic.compile("sgd", "mse")


class Rollouts:
    def __init__(self, capacity):
        self.blocks = deque(maxlen=capacity)
        self.returns = deque(maxlen=capacity)

    def collect(self, policy_seed):
        states = rng.normal(loc=policy_seed, size=(512, 256)).astype("float32")
        self.blocks.append(states)
        self.returns.append(states.mean(axis=1, keepdims=True))

    def newest(self):
        return self.blocks[-1], self.returns[-1]


def improve(rollouts, iterations):
    for iteration in range(iterations):
        rollouts.collect(iteration % 3)
        loss = critic.train_on_batch(*rollouts.newest())
    return loss


print("loss", improve(Rollouts(capacity=6), iterations=18))
