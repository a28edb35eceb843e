# expect: leak of about 1050000 bytes per iteration at actors_by_name_leaks.py:25; LW201|LW102 at 15,10,27 held by registry
"""Population-based training: losers are replaced, and stay in the registry."""
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
    child = new_actor(f"child_{generation}")
    child.set_weights(population[-1].get_weights())
    population[0] = child
print(len(population), "alive of", len(registry))
