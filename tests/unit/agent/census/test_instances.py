"""Objects of a class are found, and threads that are building something do not notice."""

import threading

import pytest

from lowwater.agent.census.instances import instances_of, kinds_that_refer_to


class Base:
    pass


class Derived(Base):
    pass


def test_objects_of_a_class_and_its_heirs_are_found():
    one, other = Base(), Derived()

    assert {id(found) for found in instances_of(Base)} == {id(one), id(other)}
    assert [*map(id, instances_of(Derived))] == [id(other)]


# Every tuple that is being filled refers to it.
SHARED = [1]


def test_kinds_of_those_that_refer_to_an_object_are_found():
    thing = Base()
    holder = {"a": thing, "b": [thing]}

    found = kinds_that_refer_to(thing)

    assert sorted(kind.__name__ for kind in found) == ["dict", "list"]
    assert holder["a"] is thing


@pytest.mark.parametrize("look", [instances_of, lambda _: kinds_that_refer_to(SHARED)])
def test_threads_that_fill_tuples_meanwhile_do_not_fail(look):
    """A tuple that is being filled is among all objects, and must not be held by anybody."""
    errors, is_over = [], threading.Event()

    def fill():
        while not is_over.is_set():
            try:
                tuple(SHARED for _ in range(200))
            except SystemError as error:
                errors.append(error)

    threads = [threading.Thread(target=fill) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        look(Base)
    is_over.set()
    for thread in threads:
        thread.join()

    assert errors == []
