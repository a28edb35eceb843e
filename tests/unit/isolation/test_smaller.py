"""`on_oom`: what it accepts, what it refuses before anything runs, and how often it is made."""

import numpy as np
import pytest

from lowwater.errors import UsageError
from lowwater.isolation.smaller import smaller_by


def train(batch_size, rate=0.1):
    """What a user would search."""


def halvings(config, function=train):
    halve = smaller_by("halve batch_size", function, [config])
    found = []
    while (config := halve(config)) is not None:
        found.append(config)
    return found


def test_key_of_a_dictionary_is_halved_down_to_one():
    sizes = [one["batch_size"] for one in halvings({"batch_size": 10, "rate": 1})]

    assert sizes == [5, 2, 1]


def test_argument_is_found_in_a_tuple_by_its_name():
    assert halvings((4, 0.5)) == [(2, 0.5), (1, 0.5)]


def test_integers_of_numpy_are_integers():
    assert [one["batch_size"] for one in halvings({"batch_size": np.int64(4)})] == [2, 1]


def test_given_configuration_is_not_changed():
    config = {"batch_size": 8}
    halvings(config)

    assert config == {"batch_size": 8}


def test_a_function_is_taken_as_it_is():
    def fewer(config):
        return None

    assert smaller_by(fewer, train, [{}]) is fewer
    assert smaller_by(None, train, [{}]) is None


@pytest.mark.parametrize("wanted", ["halve", "halve a b", "third batch_size", "Halve x", 3, ""])
def test_other_spellings_are_refused_with_the_right_one(wanted):
    with pytest.raises(UsageError, match='on_oom="halve batch_size"'):
        smaller_by(wanted, train, [])


@pytest.mark.parametrize("config", [{"rate": 1}, (), 64, "batch_size", {"batch_size": None}])
def test_configuration_without_it_is_refused(config):
    with pytest.raises(UsageError, match="in every configuration"):
        smaller_by("halve batch_size", train, [{"batch_size": 2}, config])


@pytest.mark.parametrize("value", [1.5, "64", True, 0, -2, [4]])
def test_what_is_no_whole_number_is_refused(value):
    with pytest.raises(UsageError, match="whole number"):
        smaller_by("halve batch_size", train, [{"batch_size": value}])
