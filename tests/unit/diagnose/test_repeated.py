"""What stands for an input pipeline; those of TensorFlow are tried in the integration tests."""

import itertools

import numpy as np
import pytest

from lowwater.diagnose.repeated import Repeated


class PyDataset:
    """That of Keras, as far as it is used."""

    __module__ = "keras.src.trainers.data_adapters"
    num_batches = None


class Rows(PyDataset):
    num_batches = 7

    def __init__(self):
        self.asked = []

    def __getitem__(self, index):
        self.asked.append(index)
        return [np.full(3, index)], np.zeros(3)


class DataLoader:
    """That of torch, as far as it is used."""

    batch_sampler = None

    def __init__(self, rows):
        self.dataset = rows
        self.given = 0

    def __len__(self):
        return len(self.dataset)

    def __iter__(self):
        for row in self.dataset:
            self.given += 1
            yield row


def test_py_dataset_becomes_one_of_a_single_batch_that_is_as_long():
    rows = Rows()

    given = Repeated().given("jax", "x", rows, None)

    assert isinstance(given, PyDataset)
    assert given.num_batches == 7
    assert given[0] is given[6]
    assert isinstance(given[0][0], tuple)
    assert rows.asked == [0]


def test_endless_py_dataset_stays_endless():
    rows = Rows()
    rows.num_batches = None

    assert Repeated().given("torch", "x", rows, 30).num_batches is None


def test_generator_with_a_number_of_steps_repeats_for_ever():
    given = Repeated().given("jax", "x", iter([1, 2]), 30)

    assert [*itertools.islice(given, 5)] == [1] * 5


def test_generator_without_a_number_is_as_long_as_it_was():
    repeated = Repeated()
    passes = [[*repeated.given("jax", "x", iter([1, 2, 3]), None)] for _ in range(2)]

    assert passes == [[1, 2, 3], [1, 1, 1]]


def test_loader_gives_its_first_batch_as_often_and_the_programs_own_stays():
    loader = DataLoader([1, 2, 3])

    given = Repeated().given("torch", "x", loader, None)

    assert isinstance(given, DataLoader)
    assert [[*given], [*given]] == [[1, 1, 1], [1, 1, 1]]
    assert len(given) == 3
    assert loader.given == 1
    assert [*loader] == [1, 2, 3]


def test_loader_without_a_length_is_as_long_as_it_was():
    loader, repeated = DataLoader(iter("abc")), Repeated()

    given = repeated.given("torch", "x", loader, None)

    assert [*given] == ["a", "b", "c"]
    with pytest.raises(TypeError):
        len(given)


def test_arrays_are_no_pipeline():
    rows = np.zeros((4, 2))

    assert Repeated().given("jax", "x", rows, None) is rows
    assert Repeated().given("jax", "validation_data", (rows, rows), None) == (rows, rows)
