# expect: no leak
"""Text classifier behind a queue: each request has a length of its own."""
import random

import keras
import tensorflow as tf
from keras import layers

VOCABULARY = 500
encoder = keras.Sequential(
    [
        keras.Input((None,), dtype="int32"),
        layers.Embedding(VOCABULARY, 16),
        layers.Dense(32, activation="relu"),
        layers.GlobalMaxPooling1D(),
        layers.Dense(2, activation="softmax"),
    ]
)


@tf.function(input_signature=[tf.TensorSpec((1, None), tf.int32)])
def classify(tokens):
    return tf.argmax(encoder(tokens), axis=-1)


def requests(count):
    lengths = list(range(10, 10 + count))
    random.Random(3).shuffle(lengths)
    for length in lengths:
        yield tf.random.uniform((1, length), maxval=VOCABULARY, dtype=tf.int32)


def drain(queue, batch):
    return [int(classify(next(queue))[0]) for _ in range(batch)]


def serve():
    queue = requests(14 * 8)
    positive = 0
    for tick in range(14):
        positive += sum(drain(queue, 8))
    return positive


print("positive", serve())
