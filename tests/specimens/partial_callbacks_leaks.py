# expect: leak of 1000000 bytes per iteration at partial_callbacks_leaks.py:38; LW104|LW102 at 24 held by listeners
"""An event bus: each trial subscribes with its own data bound, and never unsubscribes."""
import functools

import numpy as np
import tensorflow as tf


class Bus:
    def __init__(self):
        self.listeners = []

    def emit(self, trial, loss):
        for listener in self.listeners:
            listener(trial, loss)


def compare(data, baseline, trial, loss):
    if loss < baseline:
        print("trial", trial, "beats", round(baseline, 3), "on", data.shape)


def subscribe(bus, data, baseline):
    bus.listeners.append(functools.partial(compare, data, baseline))


def fit(data, rate):
    weights = tf.Variable(tf.zeros((data.shape[1], 1)))
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.matmul(data, weights) - 1.0) ** 2)
        weights.assign_sub(rate * tape.gradient(loss, weights))
    return float(loss)


def search(bus, trials):
    rng = np.random.default_rng(0)
    for trial in range(trials):
        data = rng.normal(size=(2500, 100)).astype("float32")
        loss = fit(tf.constant(data), 0.01 * (1 + trial))
        subscribe(bus, data, loss)
        bus.emit(trial, loss)


search(Bus(), trials=14)
