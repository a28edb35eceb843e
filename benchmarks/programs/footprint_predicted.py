"""What Lowwater, the usual formula and the compiler say of one model, as JSON on the last line.

$ python footprint_predicted.py MODEL FACTOR

FACTOR times the largest batch that is measured.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

# ruff: noqa: ANN401 - models and data are Keras'

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
FLOAT_BYTES = 4


def formula_bytes(model: Any, x: Any, batch_size: int) -> int:
    """4 bytes for each parameter, its slots and its gradient, and for each output of a layer."""
    import keras
    import numpy as np

    sizes = []

    def noted(layer: Any) -> Any:
        call = layer.call

        def called(*arguments: Any, **options: Any) -> Any:
            outputs = call(*arguments, **options)
            sizes.extend(int(np.prod(one.shape)) for one in keras.tree.flatten(outputs))
            return outputs

        return called

    every = model._flatten_layers(include_self=False)  # noqa: SLF001 - layers in layers as well
    layers = [one for one in every if not hasattr(one, "layers")]
    for layer in layers:
        layer.call = noted(layer)
    model(keras.tree.map_structure(lambda one: one[:1], x))
    for layer in layers:
        del layer.call
    trainable = sum(int(np.prod(one.shape)) for one in model.trainable_variables)
    others = sum(int(np.prod(one.shape)) for one in model.non_trainable_variables)
    model.optimizer.build(model.trainable_variables)
    slots = sum(int(np.prod(one.shape)) for one in model.optimizer.variables)
    return FLOAT_BYTES * (2 * trainable + others + slots + batch_size * sum(sizes))


def compiler_bytes(model: Any, x: Any, y: Any, batch_size: int) -> int:
    """The buffers that XLA assigns to one step compiled for this batch; TensorFlow only."""
    import keras
    import numpy as np
    import tensorflow as tf
    from tensorflow.compiler.xla.service import hlo_pb2

    def of_size(one: Any) -> Any:
        return tf.constant(np.resize(one, (batch_size, *one.shape[1:])))

    batch = keras.tree.map_structure(of_size, (x, y) if y is not None else (x,))
    step = tf.function(lambda *data: model.train_step(data), jit_compile=True)
    told = step.experimental_get_compiler_ir(*batch)(stage="optimized_hlo_proto_serialized")
    proto = hlo_pb2.HloProto.FromString(told)
    return sum(one.size for one in proto.buffer_assignment.buffer_allocations)


def attempted(call: Any, *arguments: Any) -> Any:
    """The answer, or the first line of what went wrong."""
    try:
        return call(*arguments)
    except Exception as error:  # noqa: BLE001 - the table says what went wrong
        return f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0]}"[:160]


def main(name: str, factor: int) -> None:
    """All that is said without making the step that it is about."""
    from models import load

    import lowwater
    from lowwater.errors import UserError
    from lowwater.sizing.footprint import subject_of
    from lowwater.sizing.found import footprint_of
    from lowwater.sizing.measure import MeasuringPlan, measured

    module = load(name)
    model, (x, y) = module.build(), module.data(256)
    began = time.monotonic()
    try:
        found = lowwater.footprint(model, x, y, batch_size=32)
    except UserError:  # it cannot be sent: measured where it is, as `lowwater footprint` does
        subject = subject_of(module.build(), x, y, None, None)
        found = footprint_of(measured(subject, MeasuringPlan(32)), 32)
    elapsed_s = time.monotonic() - began
    largest = max(step.batch_size for step in found.measured)
    said = found.at(factor * largest)
    answer = {
        "model": name,
        "elapsed_s": round(elapsed_s, 1),
        "largest_measured": largest,
        "batch_size": factor * largest,
        "measured": {step.batch_size: step.peak_bytes for step in found.measured},
        "predicted_bytes": said.peak_bytes,
        "interval_bytes": said.interval_bytes,
        "because": said.because,
        "formula_bytes": attempted(formula_bytes, model, x, factor * largest),
    }
    print(json.dumps(answer), flush=True)
    if os.environ.get("KERAS_BACKEND", "tensorflow") == "tensorflow":
        answer["compiler_bytes"] = attempted(compiler_bytes, module.build(), x, y, factor * largest)
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
