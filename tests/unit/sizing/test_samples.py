"""Samples come out of whatever the user has, or one sentence says why not."""

import numpy as np
import pytest

from lowwater.errors import UsageError
from lowwater.sizing.samples import samples_of

X, Y = np.ones((10, 4), "float32"), np.zeros((10, 1), "float32")


def batches(*sizes, width=4):
    return ((np.ones((size, width), "float32"), np.zeros(size)) for size in sizes)


def test_arrays_are_samples():
    taken = samples_of(X, Y)

    assert (taken.count, taken.sample_bytes, taken.shapes()) == (10, 20, {"": (4,)})


def test_dictionary_of_arrays_keeps_its_names():
    assert samples_of({"a": X, "b": X[:, :2]}, Y).shapes() == {"a": (4,), "b": (2,)}


def test_sample_weights_are_part_of_a_batch():
    taken = samples_of(X, Y, np.ones(10, "float32"))

    assert (len(taken.parts), taken.sample_bytes) == (3, 24)


def test_list_of_numbers_is_one_array():
    assert samples_of([1.0, 2.0, 3.0], [0, 1, 0]).count == 3


def test_generator_is_read_until_there_are_enough():
    source = batches(*[100] * 50)
    taken = samples_of(source)

    assert (taken.count, taken.own_batch, len(taken.parts)) == (300, 100, 2)
    assert next(source) is not None, "the rest stays with the user"


def test_short_last_batch_is_put_together_with_the_others():
    assert samples_of(batches(8, 8, 3)).count == 19


def test_sequences_of_different_length_are_padded_as_the_longest():
    lengths = ((np.ones((2, length)), np.zeros(2)) for length in (3, 7, 5))

    assert samples_of(lengths).shapes() == {"": (7,)}


def test_empty_arrays_are_one_sentence():
    with pytest.raises(UsageError, match="there is no data to build a batch from"):
        samples_of(X[:0], Y[:0])


def test_empty_generator_is_one_sentence():
    with pytest.raises(UsageError, match="a generator gave no batch: the data is empty"):
        samples_of(batches())


def test_no_data_is_one_sentence():
    with pytest.raises(UsageError, match=r"there is no data .* Try: lowwater\.footprint"):
        samples_of(None)


def test_arrays_of_different_lengths_are_named():
    with pytest.raises(UsageError, match=r"different numbers of samples \(received: x: 10, y: 9"):
        samples_of(X, Y[:9])


@pytest.mark.parametrize(
    "batch",
    [
        pytest.param((np.ones((4, 2)), np.ones((3, 2))), id="parts of different length"),
        pytest.param((np.float32(3), np.zeros(2)), id="scalar"),
    ],
)
def test_generator_that_cannot_be_rebatched_is_one_sentence(batch):
    with pytest.raises(UsageError) as refused:
        samples_of(iter([batch]))

    assert "cannot be combined into other batch sizes" in str(refused.value)
    assert "Try: pass arrays of a few samples" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_batches_of_different_rank_cannot_be_rebatched():
    with pytest.raises(UsageError, match="cannot be combined"):
        samples_of(iter([(np.ones((2, 3)), np.ones(2)), (np.ones((2, 3, 4)), np.ones(2))]))


def test_infinite_generator_ends():
    def forever():
        while True:
            yield np.ones((64, 2)), np.ones(64)

    assert samples_of(forever()).count == 256
