# expect: no leak
"""Population-based training: losers are given new weights, and no model is built."""
import keras
import numpy as np
from keras import layers

registry = {}


def new_actor(name):
    inputs = keras.Input((40,), name=f"state_{name}")
    hidden = layers.Dense(400, activation="tanh")(inputs)
    hidden = layers.Dense(400, activation="tanh")(hidden)
    actor = keras.Model(inputs, layers.Dense(4)(hidden), name=name)
    registry[name] = actor
    return actor


def fitness(actor, states):
    return float(np.asarray(actor(states)).max())


states = np.random.default_rng(0).normal(size=(32, 40)).astype("float32")
population = [new_actor(f"first_{number}") for number in range(3)]
for generation in range(14):
    population.sort(key=lambda actor: fitness(actor, states))
    best = population[-1].get_weights()
    population[0].set_weights([w + 0.01 * np.random.standard_normal(w.shape) for w in best])
print(len(population), "alive of", len(registry))
