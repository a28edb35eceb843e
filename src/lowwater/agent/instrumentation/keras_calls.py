"""The calls of `keras.Model` that are watched; by themselves they hold nothing."""

from typing import Final

CALLS: Final = (
    "fit",
    "evaluate",
    "predict",
    "train_on_batch",
    "test_on_batch",
    "predict_on_batch",
)
