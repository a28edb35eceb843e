# expect: no leak
"""Cross-validation with one network: its first weights are put back before each fold."""
import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(1)
features = rng.normal(size=(600, 32)).astype("float32")
target = (features[:, :4].sum(axis=1) > 0).astype("float32")

inputs = keras.Input((32,))
hidden = layers.Dense(192, activation="relu")(inputs)
hidden = layers.Dense(192, activation="relu")(hidden)
network = keras.Model(inputs, layers.Dense(1, activation="sigmoid")(hidden))
network.compile("adam", "binary_crossentropy")
fresh = network.get_weights()


def train_fold(train, held_out):
    network.set_weights(fresh)
    for variable in network.optimizer.variables:
        variable.assign(np.zeros(variable.shape, variable.dtype))
    network.optimizer.learning_rate = 0.001
    network.fit(features[train], target[train], epochs=1, batch_size=200, verbose=0)
    guess = network(features[held_out]).numpy().ravel() > 0.5
    return float((guess == target[held_out]).mean())


folds = np.array_split(rng.permutation(len(features)), 12)
scores = []
for held_out in folds:
    train = np.setdiff1d(np.arange(len(features)), held_out)
    scores.append(train_fold(train, held_out))
print("accuracy", np.mean(scores))
