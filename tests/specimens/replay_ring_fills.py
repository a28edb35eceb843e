# expect: no leak; fills until 4
"""Q-learning on frames: the memory is a ring that is full after four episodes."""
import random
from collections import deque

import keras
import numpy as np
from keras import layers

FRAME, ACTIONS = (24, 24), 3


class ReplayMemory:
    def __init__(self):
        self.transitions = deque(maxlen=600)

    def __len__(self):
        return len(self.transitions)

    def remember(self, state, action, reward, following, done):
        """States are float frames, as the environment gives them."""
        self.transitions.append((state, action, reward, following, done))

    def sample(self, count):
        return random.sample(self.transitions, count)


class Environment:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        return self.rng.random(FRAME)

    def step(self, action):
        return self.rng.random(FRAME), float(action == 1), self.rng.random() < 0.01


def learn(model, batch):
    states = np.stack([transition[0] for transition in batch])
    targets = np.zeros((len(batch), ACTIONS), "float32")
    for row, (_, action, reward, _, _) in enumerate(batch):
        targets[row, action] = reward
    model.train_on_batch(states, targets)


random.seed(0)
environment, memory = Environment(0), ReplayMemory()
model = keras.Sequential([keras.Input(FRAME), layers.Flatten(), layers.Dense(8), layers.Dense(ACTIONS)])
model.compile("sgd", "mse")
for episode in range(16):
    state = environment.reset()
    for step in range(150):
        action = random.randrange(ACTIONS)
        following, reward, done = environment.step(action)
        memory.remember(state, action, reward, following, done)
        state = following
    learn(model, memory.sample(32))
    print("episode", episode, "memory", len(memory))
