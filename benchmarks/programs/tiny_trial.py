"""The smallest trial that is still one: build, compile, fit once, return the loss."""


def trial(seed: int) -> float:
    """One trial."""
    import keras
    import numpy as np

    keras.utils.set_random_seed(seed)
    chance = np.random.default_rng(seed)
    x, y = chance.random((256, 16), "float32"), chance.random((256, 1), "float32")
    model = keras.Sequential(
        [
            keras.layers.Input((16,)),
            keras.layers.Dense(32, activation="relu"),
            keras.layers.Dense(1),
        ]
    )
    model.compile("adam", "mse")
    return model.fit(x, y, batch_size=64, verbose=0).history["loss"][-1]
