# expect: no leak
"""A scoring service: sequences are padded to one length before `predict` sees them."""
import itertools

import keras
import numpy as np
from keras import layers

LONGEST = 160


class Scorer:
    def __init__(self):
        steps = keras.Input((LONGEST, 12))
        pooled = layers.GlobalMaxPooling1D()(layers.Dense(24, activation="relu")(steps))
        self.model = keras.Model(steps, layers.Dense(1, activation="sigmoid")(pooled))
        self.rng = np.random.default_rng(2)

    def payload(self, length):
        padded = np.zeros((1, LONGEST, 12), "float32")
        padded[0, :length] = self.rng.normal(size=(length, 12))
        return padded

    def score(self, length):
        return self.model.predict(self.payload(length), verbose=0)[0, 0]


scorer = Scorer()
lengths = itertools.count(20)
for minute in range(14):
    scores = [scorer.score(next(lengths)) for _ in range(8)]
    print("minute", minute, "mean", round(float(np.mean(scores)), 4))
