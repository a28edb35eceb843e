"""The peaks of real steps of a real `fit`, as TensorFlow's pool tells them: JSON on the last line.

$ TF_CPU_ALLOCATOR_USE_BFC=1 python footprint_real.py MODEL BATCH_SIZE STEPS

Where memory runs out it prints {"out_of_memory": true}.
The data set has no prefetch buffer: how full that is when the peak comes is chance.
"""

import json
import sys
from pathlib import Path
from typing import Any

# ruff: noqa: ANN401 - as Keras calls it

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def main(name: str, batch_size: int, steps: int) -> None:
    """Prints the peak of every step."""
    import keras
    import tensorflow as tf
    from models import load

    memory = tf.config.experimental
    peaks = []

    class Peaks(keras.callbacks.Callback):
        """Of each step alone."""

        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002
            memory.reset_memory_stats("CPU:0")

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002
            peaks.append(memory.get_memory_info("CPU:0")["peak"])

    module = load(name)
    model = module.build()
    x, y = module.data(min(batch_size, 256))
    data = tf.data.Dataset.from_tensor_slices(x if y is None else (x, y))
    data = data.repeat().batch(batch_size, drop_remainder=False)
    options = tf.data.Options()
    options.autotune.enabled = False
    data = data.with_options(options)
    try:
        model.fit(data, steps_per_epoch=steps, verbose=0, callbacks=[Peaks()])
    except tf.errors.ResourceExhaustedError:
        print(json.dumps({"out_of_memory": True}))
    else:
        print(json.dumps(peaks))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
