"""How the trainers of Keras name their steps, and what they take their batches from."""

from typing import Any, Final

from lowwater.model.footprint import StepKind
from lowwater.sizing.backends._batch import batch_of
from lowwater.sizing.subject import Subject

# ruff: noqa: ANN401 - Keras has no types

# As in `make_train_function` and `train_function`.
NAMES: Final = {StepKind.TRAIN: "train", StepKind.EVALUATE: "test", StepKind.PREDICT: "predict"}


def epoch_of(iterator: Any, subject: Subject, batch_size: int, kind: StepKind) -> Any:
    """An epoch of one batch of the user's own samples, by this backend's class of iterators."""
    parts = batch_of(subject.samples.parts, batch_size)
    x, y, sample_weight = (*parts, None, None)[:3]
    options = subject.options if kind is StepKind.TRAIN else {}
    if kind is StepKind.PREDICT:
        y = sample_weight = None
    return iterator(x=x, y=y, sample_weight=sample_weight, batch_size=batch_size, **options)
