import sys
import threading
import time

from lowwater.agent.census.instances import objects_of
from lowwater.giveback.living import Watched, deaths, what_is


class Thing:
    """Something to look for."""


def test_objects_are_found_by_their_type():
    things = [Thing() for _ in range(3)]

    found = objects_of({id(Thing)})

    assert {*map(id, things)} <= {*map(id, found)}
    assert {type(one) for one in found} == {Thing}


def test_thread_that_fills_a_tuple_is_not_disturbed():
    """While somebody holds such a tuple, Python fails with a SystemError."""
    errors, is_over, interval = [], threading.Event(), sys.getswitchinterval()

    def fill():
        while not is_over.is_set():
            try:
                tuple(number for number in range(50))
            except SystemError as error:
                errors.append(error)

    thread = threading.Thread(target=fill)
    sys.setswitchinterval(1e-5)
    thread.start()
    try:
        end = time.monotonic() + 1
        while time.monotonic() < end:
            objects_of({id(Thing)})
    finally:
        is_over.set()
        thread.join()
        sys.setswitchinterval(interval)

    assert not errors


def test_the_dead_are_counted_by_kind():
    living = Thing()
    watched = [
        Watched.of(living, "layer"),
        Watched.of(Thing(), "layer"),
        Watched.of(Thing(), "model"),
    ]

    assert deaths(watched) == {"model": 1, "layer": 1}


def test_name_that_raises_is_no_name():
    class Odd:
        @property
        def name(self):
            raise RuntimeError

    assert what_is(Odd()) == "a Odd"
