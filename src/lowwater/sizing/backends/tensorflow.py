"""Real steps of Keras on TensorFlow, and the peak that its pool tells of each."""

import os
from collections.abc import Mapping
from typing import Any

from lowwater.model.footprint import Fixed, StepKind, StepPeak
from lowwater.probes.pool_limit import POOL_LIMIT
from lowwater.probes.tensorflow_devices import tensorflow_devices
from lowwater.sizing.backends._fixed import fixed_of
from lowwater.sizing.backends._pool_watch import PoolWatch
from lowwater.sizing.backends._rounds import StepRounds
from lowwater.sizing.backends.tensorflow_function import TensorFlowFunctionSteps
from lowwater.sizing.samples import leaves
from lowwater.sizing.subject import Subject

# ruff: noqa: ANN401 - TensorFlow has no types

HAS_POOL = True
_POOL = "TF_CPU_ALLOCATOR_USE_BFC"


def variables(limit_bytes: int | None) -> Mapping[str, str]:
    """The host's tensors on the pool that devices have; it is chosen at the first allocation."""
    chosen = {_POOL: "1", "TF_CPP_MIN_LOG_LEVEL": os.environ.get("TF_CPP_MIN_LOG_LEVEL", "3")}
    if limit_bytes is not None:
        chosen[POOL_LIMIT] = str(max(1, limit_bytes >> 20))
    return chosen


class TensorFlowSteps:
    """Steps of `fit`, `evaluate` and `predict` on batches of the samples."""

    def __init__(self, subject: Subject) -> None:
        """In a process that exists only for this: the model is trained."""
        self._subject = subject
        self._model = subject.model
        self.place = _place()
        self.device_bytes = _device_bytes(self.place)
        in_use = _memory(self.place)["current"]
        held = self.fixed()
        # What the program itself keeps there, such as its data.
        self.other_bytes = max(0, in_use - held.weights_bytes - held.optimizer_bytes)

    def fixed(self) -> Fixed:
        """By the variables; those of the optimizer are there after a step."""
        return fixed_of(self._subject)

    def measure(self, batch_size: int, kind: StepKind = StepKind.TRAIN) -> StepPeak:
        """Make steps of this kind until their highest peak no longer rises."""
        rounds = StepRounds(PoolWatch(self.place))
        callback = _callback(rounds)
        parts = self._subject.samples.parts
        data = _batches(parts if kind is not StepKind.PREDICT else parts[:1], batch_size)
        common: dict[str, Any] = {"verbose": 0, "callbacks": [callback]}
        try:
            if kind is StepKind.TRAIN:
                options = self._subject.options
                self._model.fit(
                    data, shuffle=False, steps_per_epoch=rounds.most, **common, **options
                )
            elif kind is StepKind.EVALUATE:
                self._model.evaluate(data, steps=rounds.most, **common)
            else:
                self._model.predict(data, steps=rounds.most, **common)
        except EnoughSteps:
            pass
        return rounds.told(batch_size, kind)


STEPS = TensorFlowSteps


def FUNCTION_STEPS(subject: Subject) -> TensorFlowFunctionSteps:  # noqa: N802 - made like `STEPS`
    """Steps of the user's own function, on the same pool."""
    place = _place()
    return TensorFlowFunctionSteps(subject, place, _device_bytes(place))


class EnoughSteps(Exception):
    """Ends a `fit` between two steps."""


def _place() -> str:
    import tensorflow as tf

    return "GPU:0" if tf.config.list_logical_devices("GPU") else "CPU:0"


def _memory(place: str) -> dict[str, int]:
    import tensorflow as tf

    found: dict[str, int] = tf.config.experimental.get_memory_info(place)
    return found


def _device_bytes(place: str) -> int | None:
    return next((one.limit_bytes for one in tensorflow_devices() if one.place == place), None)


def _batches(parts: tuple[Any, ...], batch_size: int) -> Any:
    """An endless data set of batches, each of other samples, made when it is asked for.

    No batch waits in a buffer, as buffers fill by chance. How many samples a batch has is not
    known beforehand, as in the data sets that Keras makes of arrays.
    """
    import tensorflow as tf

    count = len(next(leaves(parts)))
    held = tf.nest.map_structure(tf.constant, parts)

    def batch(number: Any) -> Any:
        size = tf.constant(batch_size, tf.int64) + 0 * number
        at = tf.math.floormod(number * size + tf.range(size), count)
        return tf.nest.map_structure(lambda leaf: tf.gather(leaf, at), held)

    data = tf.data.Dataset.counter().map(batch)
    options = tf.data.Options()
    options.autotune.enabled = False
    return data.with_options(options)


def _callback(rounds: StepRounds) -> Any:
    import keras

    class AroundEachStep(keras.callbacks.Callback):  # type: ignore[misc] # it has no types
        """Reads the peak of each step, and ends when there were enough."""

        def _begin(self) -> None:
            rounds.begin()

        def _end(self) -> None:
            rounds.end()
            if rounds.are_enough:
                raise EnoughSteps

        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002
            self._begin()

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002
            self._end()

        def on_test_batch_begin(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002
            self._begin()

        def on_test_batch_end(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002
            self._end()

        def on_predict_batch_begin(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002
            self._begin()

        def on_predict_batch_end(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002
            self._end()

    return AroundEachStep()
