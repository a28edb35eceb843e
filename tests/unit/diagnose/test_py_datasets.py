"""Other batches from a `PyDataset`."""

import pytest

from lowwater.diagnose.py_datasets import batches_of, first_batches, library_base, one_batch


class PyDataset:
    """That of Keras, as far as it is used."""

    __module__ = "keras.src.trainers.data_adapters"
    workers, use_multiprocessing, max_queue_size = 1, False, 10
    num_batches = None

    def on_epoch_end(self):
        """Nothing, if the program has none."""


class Sequence:
    """That of the legacy Keras."""

    __module__ = "tf_keras.src.utils.data_utils"

    def on_epoch_end(self):
        """Nothing, if the program has none."""


class Rows(PyDataset):
    num_batches = 100

    def __init__(self):
        self.asked = []

    def __getitem__(self, index):
        self.asked.append(index)
        return index

    def on_epoch_end(self):
        self.asked.append("end")


class OldRows(Sequence):
    def __len__(self):
        return 100

    def __getitem__(self, index):
        return index


def test_first_batches_of_many_are_those_of_the_data():
    rows = Rows()
    rows.workers = 4
    first = first_batches(rows, 30)
    taken = [first[0], first[29]]
    first.on_epoch_end()

    assert isinstance(first, PyDataset)
    assert (first.num_batches, first.workers) == (30, 4)
    assert taken == [0, 29]
    assert rows.asked == [0, 29, "end"]
    assert rows.num_batches == 100


def test_census_does_not_look_past_what_cut_data_hold_as_if_they_were_ours():
    assert not type(first_batches(Rows(), 30)).__module__.startswith("lowwater.")


def test_old_sequences_are_cut_alike():
    first = first_batches(OldRows(), 30)

    assert isinstance(first, Sequence)
    assert (len(first), first[7]) == (30, 7)


@pytest.mark.parametrize(
    "settings", [{"num_batches": 30}, {"num_batches": None}, {"use_multiprocessing": True}]
)
def test_short_or_endless_data_and_those_for_other_processes_stay(settings):
    rows = Rows()
    vars(rows).update(settings)

    assert first_batches(rows, 30) is rows


def test_one_batch_is_as_long_and_asks_the_data_for_nothing():
    rows = Rows()
    one = one_batch(rows, "batch")

    assert (one.num_batches, one[0], one[99]) == (100, "batch", "batch")
    assert rows.asked == []
    assert len(one_batch(OldRows(), "batch")) == 100


def test_length_is_what_the_data_say():
    assert batches_of(Rows()) == batches_of(OldRows()) == 100
    assert batches_of(PyDataset()) is None


def test_class_of_the_library_is_found_below_those_of_the_program_and_its_own():
    class Sequence(PyDataset):
        """Of the program, though it has the name of one of the library."""

    class FromFolder(Sequence):
        __module__ = "keras.src.legacy.preprocessing"

    assert library_base(FromFolder) is PyDataset
