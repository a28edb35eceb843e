"""Calls are packed whole, and an error names the part that cannot be sent."""

import threading
from typing import NamedTuple

import pytest

from lowwater.errors import NotPicklable
from lowwater.isolation.call import make, packed
from lowwater.isolation.mapping import arguments

LOCK = threading.Lock()


class Config(NamedTuple):
    units: int
    rate: float


def add(left, right=0):
    return left + right


def uses_the_lock():
    return LOCK.locked()


def test_call_is_made_with_its_arguments():
    assert make(packed(add, (1,), {"right": 2})) == 3


def test_argument_that_cannot_be_sent_is_named_by_number_and_parameter():
    with pytest.raises(NotPicklable, match=r"Argument 2, `right`, of `add` cannot be sent .*lock"):
        packed(add, (1, LOCK), {})


def test_keyword_that_cannot_be_sent_is_named():
    with pytest.raises(NotPicklable, match="Argument `right` of `add` cannot be sent"):
        packed(add, (1,), {"right": LOCK})


def test_variable_that_the_body_uses_is_named(monkeypatch):
    monkeypatch.setattr(uses_the_lock, "__module__", "__main__")  # as in a script

    with pytest.raises(
        NotPicklable, match="The variable `LOCK`, used in the body of `uses_the_lock`"
    ):
        packed(uses_the_lock, (), {})


def test_variable_of_a_closure_is_named():
    lock = threading.Lock()

    def trial():
        return lock

    with pytest.raises(NotPicklable, match="The variable `lock`, used in the body of"):
        packed(trial, (), {})


class TestArguments:
    def test_tuple_is_spread(self):
        assert arguments(add, (1, 2)) == ((1, 2), {})

    def test_dictionary_becomes_keywords(self):
        assert arguments(add, {"left": 1, "right": 2}) == ((), {"left": 1, "right": 2})

    def test_dictionary_for_a_function_of_one_configuration_stays_whole(self):
        assert arguments(lambda config: config, {"units": 3}) == (({"units": 3},), {})

    def test_tuple_that_does_not_fit_stays_whole(self):
        assert arguments(lambda pair: pair, (1, 2)) == (((1, 2),), {})

    def test_named_tuple_stays_whole(self):
        config = Config(64, 0.1)

        assert arguments(add, config) == ((config,), {})

    def test_anything_else_is_the_one_argument(self):
        assert arguments(add, 5) == ((5,), {})
        assert arguments(add, [1, 2]) == (([1, 2],), {})
