# expect: no leak
"""Folds over one mapped pipeline: what changes from fold to fold comes in as data."""
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(11)
images = rng.random((240, 512), dtype=np.float32)
noise = rng.random((512, 512), dtype=np.float32)


def mix(image):
    row = noise[int(image[0] * 511)]
    return (0.9 * image + 0.1 * row).astype("float32")


def apply(index, image):
    mixed = tf.numpy_function(mix, [image], tf.float32)
    return index, tf.ensure_shape(mixed, (512,))


pipeline = (
    tf.data.Dataset.from_tensor_slices((np.arange(len(images)), images))
    .map(apply, num_parallel_calls=2)
    .batch(24)
)


def run_fold(fold):
    total = 0.0
    for index, batch in pipeline:
        kept = tf.boolean_mask(batch, index % 14 != fold)
        total += float(tf.reduce_mean(kept))
    return total


for fold in range(14):
    print("fold", fold, "sum", round(run_fold(fold), 3))
