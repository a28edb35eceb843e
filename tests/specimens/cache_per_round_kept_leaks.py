# expect: leak of about 674000 bytes per iteration at cache_per_round_kept_leaks.py:34; LW301 at 19
"""Continual learning: the cached data set of every season is kept for rehearsal."""
import numpy as np
import tensorflow as tf

DAYS, HOURS = 60, 24


class Seasons:
    def __init__(self):
        self.rng = np.random.default_rng(6)
        self.rehearsal = []

    def load(self, season):
        base = tf.constant(self.rng.normal(size=(HOURS, 96)), tf.float32)
        data = tf.data.Dataset.range(DAYS)
        data = data.map(lambda day: base * tf.cast(day, tf.float32) + season)
        data = data.cache()
        self.rehearsal.append(data)
        return data.batch(10)


def fit_linear(data, weights):
    for batch in data:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.tensordot(batch, weights, 1) ** 2)
        weights.assign_sub(1e-6 * tape.gradient(loss, weights))
    return loss


def main():
    seasons = Seasons()
    weights = tf.Variable(tf.ones((96, 1)))
    for season in range(14):
        loss = fit_linear(seasons.load(season), weights)
        print("season", season, "loss", round(float(loss), 3))


main()
