"""Objects of a class are found, and threads that are building something do not notice."""

import threading

from lowwater.census.instances import instances_of


class Base:
    pass


class Derived(Base):
    pass


def test_objects_of_a_class_and_its_heirs_are_found():
    one, other = Base(), Derived()

    assert {id(found) for found in instances_of(Base)} == {id(one), id(other)}
    assert [*map(id, instances_of(Derived))] == [id(other)]


def test_threads_that_fill_tuples_meanwhile_do_not_fail():
    """A tuple that is being filled is among all objects, and must not be held by anybody."""
    errors, is_over = [], threading.Event()

    def fill():
        while not is_over.is_set():
            try:
                tuple([number] for number in range(200))
            except SystemError as error:
                errors.append(error)

    threads = [threading.Thread(target=fill) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        instances_of(Base)
    is_over.set()
    for thread in threads:
        thread.join()

    assert errors == []
