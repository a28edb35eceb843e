# expect: no leak
"""Cross-validation of a text classifier: one vocabulary, and one lookup, for all folds."""
import keras
import numpy as np

rng = np.random.default_rng(3)
words = np.array([f"word{number:05d}" for number in range(20_000)])
texts = rng.choice(words, size=(400, 12))
labels = rng.integers(0, 2, size=400)


class Features:
    """Counts of the words of one fold, behind a lookup of strings."""

    def __init__(self, lookup):
        self.lookup = lookup
        self.weights = np.zeros(lookup.vocabulary_size(), "float32")

    def fit(self, texts, labels):
        rows = np.asarray(self.lookup(texts))
        np.add.at(self.weights, rows[labels == 1], 1.0)
        np.add.at(self.weights, rows[labels == 0], -1.0)


lookup = keras.layers.StringLookup(vocabulary=words)
for fold in range(14):
    held_out = np.arange(len(texts)) % 14 == fold
    features = Features(lookup)
    features.fit(texts[~held_out], labels[~held_out])
    print("fold", fold, "weight", float(features.weights.max()))
