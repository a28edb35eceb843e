# expect: no leak; LW402|LW401
"""Parsing ever longer documents: a few survivors pin the heap that the others have left."""
import random

import tensorflow as tf

random.seed(2)
kept = []


def parse(documents, shortest):
    return [bytes(random.randrange(shortest, shortest + 3000)) for _ in range(documents)]


def epoch(number):
    documents = parse(documents=3500, shortest=1500 * (number + 1))
    lengths = tf.constant([len(document) for document in documents], tf.float32)
    kept.append(documents[-random.randrange(1, 400)])
    return float(tf.reduce_mean(lengths))


for number in range(14):
    print("epoch", number, "mean length", round(epoch(number)))
