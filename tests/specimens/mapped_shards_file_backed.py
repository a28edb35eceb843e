# expect: no leak; LW403
"""Token shards are memory-mapped and read a little further in every epoch."""
import os
import tempfile

import numpy as np
import tensorflow as tf

EPOCHS, TOKENS = 16, 1_500_000


class Shards:
    def __init__(self, folder):
        self.path = os.path.join(folder, "tokens.npy")
        tokens = np.lib.format.open_memmap(self.path, "w+", np.int32, (EPOCHS, TOKENS))
        tokens[:] = 7
        tokens.flush()
        del tokens
        self.tokens = np.load(self.path, mmap_mode="r")

    def batches(self, epoch):
        yield from np.array_split(self.tokens[epoch], 6)


with tempfile.TemporaryDirectory() as folder:
    shards = Shards(folder)
    counts = tf.Variable(0, dtype=tf.int64)
    for epoch in range(EPOCHS):
        for batch in shards.batches(epoch):
            counts.assign_add(tf.reduce_sum(tf.cast(batch, tf.int64)))
    print("sum", int(counts))
