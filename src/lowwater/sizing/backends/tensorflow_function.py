"""A step of the user's own on TensorFlow: a plain function or a `tf.function`."""

import gc
from typing import Any

from lowwater.errors import UsageError
from lowwater.model.footprint import Fixed, StepKind, StepPeak
from lowwater.sizing.backends._batch import batch_of
from lowwater.sizing.backends._fixed import bytes_of
from lowwater.sizing.backends._pool_watch import PoolWatch
from lowwater.sizing.backends._rounds import StepRounds
from lowwater.sizing.step_function import arguments
from lowwater.sizing.subject import Subject

# ruff: noqa: ANN401 - TensorFlow has no types


class TensorFlowFunctionSteps:
    """The variables of this process are the step's: it exists only for this."""

    def __init__(self, subject: Subject, place: str, device_bytes: int | None) -> None:
        """Refuse a signature that allows one batch size only."""
        self._function = subject.model.function
        self._samples = subject.samples
        self._has_tensors = subject.model.has_tensors
        self.place, self.device_bytes = place, device_bytes
        _refuse_fixed_size(self._function)

    def fixed(self) -> Fixed:
        """Weights are the variables that get gradients; the others are the optimizer's."""
        found = _variables()
        weights = bytes_of(one for one in found if one.trainable)
        return Fixed(weights, bytes_of(found) - weights, weights, self._samples.sample_bytes)

    def measure(self, batch_size: int, kind: StepKind = StepKind.TRAIN) -> StepPeak:
        """Make steps until their highest peak no longer rises."""
        import tensorflow as tf

        parts = batch_of(self._samples.parts, batch_size)
        batch = arguments(parts, tf.constant if self._has_tensors else None)
        rounds = StepRounds(PoolWatch(self.place))
        while not rounds.are_enough:
            rounds.begin()
            self._function(*batch)
            rounds.end()
        return rounds.told(batch_size, kind)


def _variables() -> list[Any]:
    import tensorflow as tf

    return [one for one in gc.get_objects() if issubclass(type(one), tf.Variable)]


def _refuse_fixed_size(function: Any) -> None:
    import tensorflow as tf

    signature = tf.nest.flatten(getattr(function, "input_signature", None) or ())
    sizes = {spec.shape[0] for spec in signature if spec.shape.rank}
    if sizes - {None}:
        raise UsageError(
            "the input_signature of the step function allows only one batch size",
            received=", ".join(str(spec.shape) for spec in signature),
            advice="None as the first dimension: tf.TensorSpec((None, ...))",
        )
