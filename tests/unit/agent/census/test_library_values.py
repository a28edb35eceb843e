"""What library modules name is sorted at one go, without how they were imported."""

import importlib.util
import threading
from types import ModuleType

from lowwater.agent.census.library_values import values_of


def a_module(name="library", **values):
    module = ModuleType(name)
    module.__spec__ = importlib.util.spec_from_loader(name, loader=object())
    module.__all__ = ["registry"]
    vars(module).update(values)
    return module


def test_data_is_told_from_code_and_both_from_what_holds_nothing():
    registry, local = {}, threading.local()

    def function():
        return registry

    def without_closure():
        pass

    module = a_module(
        registry=registry,
        local=local,
        function=function,
        without_closure=without_closure,
        kind=dict,
        number=3,
        other=threading,
    )
    found = values_of([module])

    assert list(map(id, found.data[0])) == [id(registry), id(local)]
    assert found.code == [function, dict]
    assert found.thread_locals == [local]


def test_how_a_module_was_imported_is_left_out():
    """Each module has its own: they were a third of the time of a census, and never grow."""
    assert values_of([importlib, threading, a_module()]).data[2] == []
    imported = {id(importlib.__spec__), id(importlib.__loader__), id(threading.__all__)}
    named = {id(value) for values in values_of([importlib, threading]).data for value in values}

    assert not imported & named


def test_every_module_keeps_its_place():
    assert values_of([a_module(), a_module(kept=[1])]).data == [[], [[1]]]


def test_nothing_is_held_when_it_is_forgotten():
    found = values_of([a_module(kept=[1], function=len, local=threading.local())])

    found.forget()

    assert (found.data, found.code, found.thread_locals) == ([], [], [])


def test_type_whose_metaclass_has_a_hash_of_its_own_is_not_asked_for_it():
    class Meta(type):
        def __hash__(cls):
            raise AssertionError

        def __eq__(cls, other):
            raise AssertionError

    class Strange(metaclass=Meta):
        pass

    strange = Strange()

    assert values_of([a_module(strange=strange)]).data == [[strange]]
