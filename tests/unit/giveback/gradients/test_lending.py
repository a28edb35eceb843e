"""The registry is lent and taken back, on a library that looks like TensorFlow."""

import gc
import sys
import types
import weakref

import pytest

from lowwater.giveback.gradients.entries import WeakEntry
from lowwater.giveback.gradients.lending import lent, table
from lowwater.giveback.gradients.ownership import Ownership

OPS = "tensorflow.python.framework.ops"
ATOMIC = "tensorflow.python.eager.polymorphic_function.atomic_function"


class Graph:
    """A graph is known by the gradients that its operations name."""

    def __init__(self, *names):
        self.names = names

    def as_graph_def(self):
        return self

    def SerializeToString(self):  # noqa: N802 - as protocol buffers call it
        return " ".join(self.names).encode()


class AtomicFunction:
    """A function of which there is only the definition."""

    def __init__(self, *names):
        self.definition = Graph(*names).as_graph_def()
        self._cached_graph = self._generated_graph = None


class Tensor:
    """A tensor leads to its graph."""

    def __init__(self, graph):
        self.graph = graph


class Registry:
    """What TensorFlow keeps for ever."""

    def __init__(self):
        self._registry = {"Sub": {"type": print, "location": "here"}}

    def add(self, name, graph):
        result = Tensor(graph)

        def tape_grad_fn():
            return result

        self._registry[name] = {"type": lambda: tape_grad_fn, "location": "there"}


@pytest.fixture
def registry(monkeypatch):
    ops = types.ModuleType(OPS)
    ops.Graph, ops.gradient_registry = Graph, Registry()
    atomic = types.ModuleType(ATOMIC)
    atomic.AtomicFunction = AtomicFunction
    monkeypatch.setitem(sys.modules, OPS, ops)
    monkeypatch.setitem(sys.modules, ATOMIC, atomic)
    return ops.gradient_registry


def collect_while_lent():
    with lent():
        gc.collect()


def test_entry_of_a_dead_graph_goes_with_it(registry):
    graph = Graph("CustomGradient-1")
    registry.add("CustomGradient-1", graph)
    reference = weakref.ref(graph)
    del graph
    gc.collect()
    assert reference() is not None
    collect_while_lent()

    assert reference() is None
    assert [*registry._registry] == ["Sub"]


def test_entry_of_a_living_graph_stays_as_it_was(registry):
    graph = Graph("CustomGradient-1")
    registry.add("CustomGradient-1", graph)
    before = dict(registry._registry["CustomGradient-1"])
    collect_while_lent()

    assert registry._registry["CustomGradient-1"] == before
    assert type(registry._registry["CustomGradient-1"]) is dict
    assert vars(graph) == {"names": ("CustomGradient-1",)}


def test_copy_of_a_dead_graph_keeps_the_entry(registry):
    registry.add("CustomGradient-1", Graph("CustomGradient-1"))
    copy = Graph("CustomGradient-1")
    collect_while_lent()

    assert "CustomGradient-1" in registry._registry
    del copy


def test_definition_without_a_graph_keeps_the_entry(registry):
    registry.add("CustomGradient-1", Graph("CustomGradient-1"))
    function = AtomicFunction("CustomGradient-1")
    collect_while_lent()

    assert "CustomGradient-1" in registry._registry
    del function


def test_entry_that_no_graph_names_yet_stays_while_its_graph_is_traced(registry):
    graph = Graph()
    registry.add("CustomGradient-1", graph)
    collect_while_lent()
    assert "CustomGradient-1" in registry._registry
    del graph
    collect_while_lent()

    assert "CustomGradient-1" not in registry._registry


def test_entry_without_any_graph_stays(registry):
    registry._registry["CustomGradient-1"] = {"type": lambda: None, "location": "there"}
    collect_while_lent()

    assert "CustomGradient-1" in registry._registry


def test_longer_number_is_another_name(registry):
    registry.add("CustomGradient-1", Graph("CustomGradient-1"))
    other = Graph("CustomGradient-11")
    collect_while_lent()

    assert "CustomGradient-1" not in registry._registry
    del other


def test_gradient_can_be_looked_up_while_it_is_lent(registry):
    graph = Graph("CustomGradient-1")
    registry.add("CustomGradient-1", graph)
    function = registry._registry["CustomGradient-1"]["type"]
    with lent():
        entry = registry._registry["CustomGradient-1"]
        assert isinstance(entry, WeakEntry)
        assert entry["type"] is function
        assert entry["location"] == "there"


def test_all_is_taken_back_when_the_block_fails(registry):
    graph = Graph("CustomGradient-1")
    registry.add("CustomGradient-1", graph)
    with pytest.raises(ValueError, match="broken"), lent():
        raise ValueError("broken")

    assert type(registry._registry["CustomGradient-1"]) is dict
    assert "names" in vars(graph)
    assert len(vars(graph)) == 1


def test_all_is_taken_back_when_a_graph_cannot_be_read(registry):
    class Broken(Graph):
        def as_graph_def(self):
            raise RuntimeError("too large")

    graph = Broken("CustomGradient-1")
    registry.add("CustomGradient-1", graph)
    with pytest.raises(RuntimeError), lent():
        pass

    assert type(registry._registry["CustomGradient-1"]) is dict


def test_registry_of_another_make_is_left_alone(registry):
    registry._registry["CustomGradient-1"] = {"function": print}

    assert "does not support the way this TensorFlow release" in table().why_not


def test_mended_registry_is_left_alone(registry):
    class Mended(dict):
        """What another tool has put in its place."""

    registry._registry = Mended(registry._registry)

    assert "does not support the way this TensorFlow release" in table().why_not


def test_frozen_objects_keep_the_registry_as_it_is(registry, monkeypatch):
    monkeypatch.setattr(gc, "get_freeze_count", lambda: 100_000)

    assert "gc.freeze()" in table().why_not


def test_what_is_mended_stays_loose_when_the_rest_is_taken_back(registry):
    gc.collect()  # the graphs of other tests
    mended, lent_one = Graph("CustomGradient-1"), Graph("CustomGradient-2")
    registry.add("CustomGradient-1", mended)
    registry.add("CustomGradient-2", lent_one)
    Ownership(registry._registry, "_mended").own(mended, "CustomGradient-1")
    collect_while_lent()

    assert isinstance(registry._registry["CustomGradient-1"], WeakEntry)
    assert type(registry._registry["CustomGradient-2"]) is dict
    assert registry._registry["CustomGradient-1"]["type"] is not None
