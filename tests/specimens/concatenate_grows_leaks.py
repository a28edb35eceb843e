# expect: leak of 1064960 bytes per iteration at concatenate_grows_leaks.py:21; LW102 at 24 held by table
"""Embeddings of a stream, gathered with np.concatenate into one growing table."""
import keras
import numpy as np

encoder = keras.Sequential([keras.Input((16,)), keras.layers.Dense(128, activation="tanh")])
rng = np.random.default_rng(5)
table = np.empty((0, 128), "float32")
labels = []


def next_chunk(number, rows=2048):
    return rng.normal(loc=number, size=(rows, 16)).astype("float32")


def nearest(query, table):
    distances = np.square(table - query).sum(axis=1)
    return int(distances.argmin())


for chunk_number in range(14):
    chunk = next_chunk(chunk_number)
    embedded = np.asarray(encoder(chunk))
    table = np.concatenate([table, embedded])
    labels = labels + [chunk_number] * len(chunk)
    print("chunk", chunk_number, "nearest to", labels[nearest(embedded[0], table)])
