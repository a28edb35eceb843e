# expect: leak; LW211 at 26,19 held by lookup table
"""Cross-validation of a text classifier: each fold learns its vocabulary from its own part."""
import keras
import numpy as np

rng = np.random.default_rng(3)
words = np.array([f"word{number:05d}" for number in range(20_000)])
texts = rng.choice(words, size=(400, 12))
labels = rng.integers(0, 2, size=400)


class Features:
    """Counts of the words of one fold, behind a lookup of strings."""

    def __init__(self, vocabulary):
        self.vocabulary = vocabulary
        self.weights = np.zeros(len(vocabulary) + 1, "float32")

    def fit(self, texts, labels):
        lookup = self.make_lookup()
        rows = np.asarray(lookup(texts))
        np.add.at(self.weights, rows[labels == 1], 1.0)
        np.add.at(self.weights, rows[labels == 0], -1.0)

    def make_lookup(self):
        return keras.layers.StringLookup(vocabulary=self.vocabulary)


for fold in range(14):
    held_out = np.arange(len(texts)) % 14 == fold
    features = Features(words)
    features.fit(texts[~held_out], labels[~held_out])
    print("fold", fold, "weight", float(features.weights.max()))
