# expect: no leak
"""An ensemble of the five latest snapshots, each cloned once and given new weights in turn."""
import keras
import numpy as np
from keras import layers


def member(width=300):
    model = keras.Sequential(
        [keras.Input((32,)), layers.Dense(width, "relu"), layers.Dense(width, "relu"), layers.Dense(1)]
    )
    return model


class Ensemble:
    def __init__(self):
        self.current = member()
        self.members = [member() for _ in range(5)]
        self.generation = 0

    def improve(self, x, y):
        for layer in self.current.layers:
            noisy = [w + 0.01 * np.random.standard_normal(w.shape) for w in layer.get_weights()]
            layer.set_weights(noisy)
        self.generation += 1
        self.members[self.generation % 5].set_weights(self.current.get_weights())
        return float(np.abs(np.asarray(self(x)) - y).mean())

    def __call__(self, x):
        return np.mean([np.asarray(model(x)) for model in self.members[-5:]], axis=0)


def main():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(64, 32)).astype("float32"), rng.normal(size=(64, 1))
    ensemble = Ensemble()
    for generation in range(14):
        error = ensemble.improve(x, y)
        print("generation", generation, "error", round(error, 4))


main()
