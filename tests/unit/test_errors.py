"""Errors travel between processes, and are the same afterwards."""

import pickle

import pytest

from lowwater import errors


def all_errors():
    waiting, found = [errors.LowwaterError], []
    while waiting:
        found.append(waiting.pop())
        waiting += found[-1].__subclasses__()
    return found


def one_of(kind):
    if issubclass(kind, errors.ChildOutOfMemory):
        return kind("too much", peak_bytes=7, limit_bytes=5)
    return kind("something went wrong")


@pytest.mark.parametrize("kind", all_errors(), ids=lambda kind: kind.__name__)
def test_error_is_the_same_after_it_was_pickled(kind):
    error = one_of(kind)

    again = pickle.loads(pickle.dumps(error))

    assert (type(again), str(again), vars(again)) == (kind, str(error), vars(error))
