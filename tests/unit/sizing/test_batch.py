"""Batches of any size from a few samples."""

import numpy as np

from lowwater.sizing.backends._batch import batch_of, bytes_of


def test_samples_are_repeated_where_there_are_too_few():
    [x, y] = batch_of(({"a": np.arange(3)}, np.arange(3) * 10), 5)

    assert x["a"].tolist() == [0, 1, 2, 0, 1]
    assert y.tolist() == [0, 10, 20, 0, 10]


def test_smaller_batch_is_the_first_samples():
    assert batch_of((np.arange(9),), 2)[0].tolist() == [0, 1]


def test_all_arrays_of_a_tree_count():
    assert bytes_of(({"a": np.zeros(4, "float32")}, [np.zeros(2, "int64"), None])) == 32
