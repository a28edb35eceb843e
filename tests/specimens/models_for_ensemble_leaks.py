# expect: leak of about 543000 bytes per iteration at models_for_ensemble_leaks.py:37; LW201|LW102 at 26,24 held by Ensemble.members
"""A growing ensemble: every snapshot of the network is kept and asked for its opinion."""
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
        self.members = []

    def improve(self, x, y):
        for layer in self.current.layers:
            noisy = [w + 0.01 * np.random.standard_normal(w.shape) for w in layer.get_weights()]
            layer.set_weights(noisy)
        snapshot = keras.models.clone_model(self.current)
        snapshot.set_weights(self.current.get_weights())
        self.members.append(snapshot)
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
