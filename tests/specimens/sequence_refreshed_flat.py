# expect: no leak
"""Active learning with one PyDataset, whose samples are replaced from cycle to cycle."""
import keras
import numpy as np
from keras import layers


class Selected(keras.utils.PyDataset):
    def __init__(self, batch_size=64, **kwargs):
        super().__init__(**kwargs)
        self.batch_size = batch_size
        self.samples = np.zeros((512, 1024), "float32")
        self.labels = np.zeros((512, 1))

    def refresh(self, samples, labels):
        self.samples, self.labels = samples.copy(), labels

    def __len__(self):
        return len(self.samples) // self.batch_size

    def __getitem__(self, index):
        part = slice(index * self.batch_size, (index + 1) * self.batch_size)
        return self.samples[part], self.labels[part]


class Learner:
    def __init__(self, pool, labels):
        self.pool, self.labels = pool, labels
        self.data = Selected()
        self.model = keras.Sequential([keras.Input((1024,)), layers.Dense(8, "relu"), layers.Dense(1)])
        self.model.compile("sgd", "mse")

    def cycle(self, chosen):
        self.data.refresh(self.pool[chosen], self.labels[chosen])
        self.model.fit(self.data, epochs=1, verbose=0)


def main():
    rng = np.random.default_rng(5)
    learner = Learner(rng.normal(size=(2048, 1024)).astype("float32"), rng.normal(size=(2048, 1)))
    for cycle in range(14):
        chosen = rng.choice(2048, 512, replace=False)
        learner.cycle(chosen)


main()
