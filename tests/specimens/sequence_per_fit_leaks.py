# expect: leak of about 2097152 bytes per iteration at sequence_per_fit_leaks.py:37; LW304|LW303 at 31,30,8,11
"""Active learning: each cycle wraps the samples chosen so far in a new PyDataset."""
import keras
import numpy as np
from keras import layers


class Selected(keras.utils.PyDataset):
    def __init__(self, samples, labels, batch_size=64, **kwargs):
        super().__init__(**kwargs)
        self.samples = samples.copy()
        self.labels = labels
        self.batch_size = batch_size

    def __len__(self):
        return len(self.samples) // self.batch_size

    def __getitem__(self, index):
        part = slice(index * self.batch_size, (index + 1) * self.batch_size)
        return self.samples[part], self.labels[part]


class Learner:
    def __init__(self, pool, labels):
        self.pool, self.labels = pool, labels
        self.model = keras.Sequential([keras.Input((1024,)), layers.Dense(8, "relu"), layers.Dense(1)])
        self.model.compile("sgd", "mse")

    def cycle(self, chosen):
        data = Selected(self.pool[chosen], self.labels[chosen])
        self.model.fit(data, epochs=1, verbose=0)


def main():
    rng = np.random.default_rng(5)
    learner = Learner(rng.normal(size=(2048, 1024)).astype("float32"), rng.normal(size=(2048, 1)))
    for cycle in range(14):
        chosen = rng.choice(2048, 512, replace=False)
        learner.cycle(chosen)


main()
