# expect: leak of about 679000 bytes per iteration; LW212 at 23,20,21,22 held by layer nodes
"""Transfer learning: a head of its own for every task, on top of one frozen backbone."""
import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(11)
images = rng.normal(size=(32, 24)).astype("float32")

pixels = keras.Input((24,))
backbone = keras.Model(pixels, layers.Dense(512, activation="relu")(pixels))
backbone.trainable = False


class Task:
    def __init__(self, classes):
        self.classes = classes

    def build(self):
        hidden = layers.Dense(96, activation="relu", name="squeeze")(backbone.output)
        hidden = layers.Dense(512, activation="relu", name="expand")(hidden)
        outputs = layers.Dense(self.classes, activation="softmax", name="scores")(hidden)
        return keras.Model(backbone.input, outputs)

    def score(self):
        probabilities = self.build()(images)
        return float(np.max(probabilities, axis=1).mean())


for task in range(16):
    score = Task(classes=100).score()
    print("task", task, "confidence", round(score, 4))
