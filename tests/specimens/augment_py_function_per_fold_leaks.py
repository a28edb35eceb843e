# expect: leak of about 1540000 bytes per iteration at augment_py_function_per_fold_leaks.py:40; LW304 at 20,19,15,28,35,42
"""Folds whose augmentation runs in NumPy, with the mean image of the fold at hand."""
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(11)
images = rng.random((240, 512), dtype=np.float32)


class Augmenter:
    def __init__(self, pool):
        self.pool = pool
        self.noise = rng.random((512, 512), dtype=np.float32)

    def mix(self, image):
        row = self.noise[int(image[0] * 511)]
        return (0.9 * image + 0.1 * row).astype("float32")

    def apply(self, image):
        mixed = tf.numpy_function(self.mix, [image], tf.float32)
        return tf.ensure_shape(mixed, (512,))


def batches(indices):
    augment = Augmenter(images[indices])
    return (
        tf.data.Dataset.from_tensor_slices(images[indices])
        .map(augment.apply, num_parallel_calls=2)
        .batch(24)
    )


def run_fold(indices):
    total = 0.0
    for batch in batches(indices):
        total += float(tf.reduce_mean(batch))
    return total


for fold in range(14):
    keep = np.arange(len(images)) % 14 != fold
    print("fold", fold, "sum", round(run_fold(keep), 3))
