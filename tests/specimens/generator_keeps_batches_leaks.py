# expect: leak of about 1090000 bytes per epoch; LW303 at 28 held by history
"""A PyDataset that remembers the batches it has handed out, to draw hard ones again."""
import keras
import numpy as np
from keras import layers


class HardSamples(keras.utils.PyDataset):
    def __init__(self, count, batch_size=32, **kwargs):
        super().__init__(**kwargs)
        self.count = count
        self.batch_size = batch_size
        self.rng = np.random.default_rng(0)
        self.history = []

    def __len__(self):
        return self.count // self.batch_size

    def draw(self):
        x = self.rng.normal(size=(self.batch_size, 1024)).astype("float32")
        y = x[:, :1] * 3
        return x, y

    def __getitem__(self, index):
        x, y = self.draw()
        if self.history and self.rng.random() < 0.2:
            x[0] = self.history[-1][0][0]
        self.history.append((x, y))
        return x, y


model = keras.Sequential([keras.Input((1024,)), layers.Dense(4, "relu"), layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(HardSamples(256), epochs=14, verbose=0)
