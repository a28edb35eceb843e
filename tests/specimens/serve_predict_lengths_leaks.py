# expect: leak per iteration at serve_predict_lengths_leaks.py:26; LW209 at 21,27
"""A scoring service: `predict` is called with sequences of every length there is."""
import itertools

import keras
import numpy as np
from keras import layers


class Scorer:
    def __init__(self):
        steps = keras.Input((None, 12))
        pooled = layers.GlobalMaxPooling1D()(layers.Dense(24, activation="relu")(steps))
        self.model = keras.Model(steps, layers.Dense(1, activation="sigmoid")(pooled))
        self.rng = np.random.default_rng(2)

    def payload(self, length):
        return self.rng.normal(size=(1, length, 12)).astype("float32")

    def score(self, length):
        return self.model.predict(self.payload(length), verbose=0)[0, 0]


scorer = Scorer()
lengths = itertools.count(20)
for minute in range(14):
    scores = [scorer.score(next(lengths)) for _ in range(8)]
    print("minute", minute, "mean", round(float(np.mean(scores)), 4))
