"""Fewer batches of what `fit` is given."""

import numpy as np

from lowwater.diagnose.shorter import as_long_as, rows_of, shorter


def test_arrays_are_cut_to_so_many_batches():
    assert len(shorter(np.zeros((1000, 2)), 3, None, 10)) == 30
    assert len(shorter(np.zeros((1000, 2)), 3, None, None)) == 96


def test_every_array_of_a_structure_is_cut():
    data = {"a": np.zeros(100), "b": [np.zeros((100, 3)), None]}

    cut = shorter(data, 2, None, 10)

    assert len(cut["a"]) == len(cut["b"][0]) == 20
    assert cut["b"][1] is None


def test_short_arrays_are_given_as_they_are():
    data = np.zeros(10)

    assert shorter(data, 3, None, 10) is data


def test_arrays_with_a_number_of_steps_are_left_alone():
    data = np.zeros(1000)

    assert shorter(data, 3, 50, 10) is data


def test_what_is_not_known_passes_as_it_is():
    for data in (None, object(), "text", [1, 2, 3], [np.zeros(3), np.zeros(4)]):
        assert shorter(data, 1, None, 1) is data


def test_data_that_cannot_be_cut_are_left_alone():
    class Stubborn:
        shape = (1000,)

        def __getitem__(self, _):
            raise TypeError

    data = Stubborn()

    assert shorter(data, 1, None, 1) is data


def test_labels_follow_the_inputs():
    assert len(as_long_as(np.zeros(100), np.zeros((30, 4)))) == 30
    assert as_long_as(None, np.zeros(3)) is None


def test_labels_of_inputs_of_unknown_length_are_left_alone():
    labels = np.zeros(100)

    assert as_long_as(labels, object()) is labels


def test_scalars_have_no_rows():
    assert rows_of(np.float32(1)) is None


def test_generator_ends_earlier_where_it_would_end_itself():
    taken = []

    def batches():
        for number in range(1000):
            taken.append(number)
            yield number

    assert [*shorter(batches(), 3, None, None)] == [0, 1, 2]
    assert taken == [0, 1, 2]


def test_generator_with_a_number_of_steps_is_left_alone():
    generator = iter(range(1000))

    assert shorter(generator, 3, 50, None) is generator


class DataLoader:
    """That of torch, as far as it is used."""

    batch_sampler = None

    def __init__(self, batches):
        self.dataset = batches

    def __len__(self):
        return len(self.dataset)

    def __iter__(self):
        return iter(self.dataset)


def test_loader_gives_its_first_batches_in_each_epoch():
    loader = DataLoader(range(100))

    cut = shorter(loader, 3, None, None)

    assert [[*cut], [*cut], len(cut)] == [[0, 1, 2], [0, 1, 2], 3]
    assert len(loader) == 100
    assert shorter(short := DataLoader("ab"), 3, None, None) is short


def test_loader_of_unknown_length_gives_no_more_either():
    cut = shorter(DataLoader(iter(range(100))), 3, None, None)

    assert [*cut] == [0, 1, 2]
