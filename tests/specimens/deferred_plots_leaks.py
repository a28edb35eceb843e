# expect: leak of 1048576 bytes per iteration at deferred_plots_leaks.py:35; LW104 at 27,13,37 held by Report.jobs
"""Plots are to be drawn at the end, so each epoch leaves a little function behind."""
import keras
import numpy as np
from keras import layers


class Report:
    def __init__(self):
        self.jobs = []

    def later(self, job):
        self.jobs.append(job)

    def write(self):
        return [job() for job in self.jobs]


def build():
    model = keras.Sequential([keras.Input((16,)), layers.Dense(32, "relu"), layers.Dense(256)])
    model.compile("sgd", "mse")
    return model


def inspect_epoch(model, x, epoch, report):
    activations = np.asarray(model(x))
    report.later(lambda: (epoch, float(activations.mean()), float(activations.std())))


def main():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(1024, 16)).astype("float32")
    y = rng.normal(size=(1024, 256)).astype("float32")
    model, report = build(), Report()
    for epoch in range(14):
        model.train_on_batch(x, y)
        inspect_epoch(model, x, epoch, report)
    print(len(report.write()), "plots")


if __name__ == "__main__":
    main()
