"""A gradient lives as long as the graphs that need it, and never shorter."""

import gc
import threading
import types
import weakref

import pytest

from lowwater.giveback.gradients.entries import WeakEntry, only_looking
from lowwater.giveback.mend._watched_graphs import WatchedGraphs

NAME = "CustomGradient-7"


class Operation:
    """Bears a gradient, as TensorFlow's operations do."""

    def __init__(self, name, kind="IdentityN"):
        self.type = kind
        self._name = name

    def get_attr(self, attribute):
        assert attribute == "_gradient_op_type"
        if self._name is None:
            raise ValueError
        return self._name.encode()


class Graph:
    """Takes attributes, and lists its operations."""

    def __init__(self, *operations):
        self.operations = operations

    def as_graph_def(self):
        return self

    def SerializeToString(self):  # noqa: N802 - as protocol buffers call it
        return b" ".join(one.get_attr("_gradient_op_type") for one in self.operations)


def an_entry():
    def gradient():
        return gradient

    return {"type": gradient, "location": "train.py:3"}


@pytest.fixture
def entries():
    return {NAME: an_entry(), "CustomGradient-8": an_entry(), "MatMul": an_entry()}


@pytest.fixture
def watched(entries):
    return WatchedGraphs(entries)


def test_gradient_dies_with_its_graph(watched, entries):
    graph, gone = Graph(), weakref.ref(entries[NAME]["type"])
    watched.created(graph, Operation(NAME))
    gc.collect()
    assert entries[NAME]["type"] is gone()
    assert entries[NAME]["location"] == "train.py:3"
    del graph
    gc.collect()

    assert gone() is None
    assert [*entries] == ["CustomGradient-8", "MatMul"]


def test_gradient_that_refers_to_its_graph_dies_with_it(watched, entries):
    graph = Graph()
    gone = weakref.ref(graph)
    entries[NAME]["type"].closed_over = graph
    watched.created(graph, Operation(NAME))
    del graph
    gc.collect()

    assert gone() is None
    assert NAME not in entries


def test_gradient_lives_until_the_last_of_its_graphs(watched, entries):
    first, second = Graph(), Graph()
    watched.created(first, Operation(NAME))
    watched.created(second, Operation(NAME))
    del first
    gc.collect()
    assert entries[NAME]["type"]
    del second
    gc.collect()

    assert NAME not in entries


def test_gradient_without_an_operation_stays(watched, entries):
    graph = Graph()
    watched.created(graph, Operation(None))
    watched.created(graph, Operation("CustomGradient-99"))
    del graph
    gc.collect()

    assert len(entries) == 3
    assert all(type(entry) is dict for entry in entries.values())


def test_gradients_of_the_library_and_of_users_are_not_touched(watched, entries):
    entries["CustomGradient-mine"] = an_entry()
    for name in ("MatMul", "CustomGradient-mine"):
        watched.created(Graph(), Operation(name))
    gc.collect()

    assert type(entries["MatMul"]) is type(entries["CustomGradient-mine"]) is dict


def test_no_gradient_stays_no_gradient(watched, entries):
    entries[NAME] = {"type": None, "location": ""}
    watched.created(Graph(), Operation(NAME))

    assert entries[NAME] == {"type": None, "location": ""}


def test_dead_gradient_is_missing_and_not_zero():
    loose = WeakEntry(an_entry())
    gc.collect()

    with pytest.raises(LookupError):
        loose["type"]
    with pytest.raises(LookupError):
        loose["another"]


def test_name_that_is_used_anew_is_another_gradient(watched, entries):
    graph, other = Graph(), an_entry()
    watched.created(graph, Operation(NAME))
    entries[NAME] = other
    del graph
    gc.collect()

    assert entries[NAME] is other


def a_graph_def(*names, in_function=False):
    def node(name):
        attributes = {} if name is None else {"_gradient_op_type": types.SimpleNamespace(s=name)}
        return types.SimpleNamespace(op="IdentityN", attr=attributes)

    nodes = [node(name) for name in names]
    function = types.SimpleNamespace(node_def=nodes if in_function else [])
    library = types.SimpleNamespace(function=[function])
    return types.SimpleNamespace(node=[] if in_function else nodes, library=library)


@pytest.mark.parametrize("in_function", [False, True])
@pytest.mark.parametrize("is_owned_first", [False, True])
def test_gradient_of_an_exported_graph_stays(watched, entries, in_function, is_owned_first):
    plain, graph = {**entries[NAME]}, Graph()
    if is_owned_first:
        watched.created(graph, Operation(NAME))
    watched.exported(a_graph_def(None, NAME.encode(), b"\xff", in_function=in_function))
    watched.created(graph, Operation(NAME))
    del graph
    gc.collect()

    assert type(entries[NAME]) is dict
    assert entries[NAME] == plain


def test_graph_that_goes_into_a_log_is_not_kept_for_it(entries):
    def export():
        watched.exported(a_graph_def(NAME.encode()))

    def write_log():
        export()

    watched, graph = WatchedGraphs(entries, writers=[write_log.__code__]), Graph()
    watched.created(graph, Operation(NAME))
    write_log()
    del graph
    gc.collect()

    assert NAME not in entries


def test_graph_that_a_release_looks_at_is_not_kept_for_it(watched, entries):
    graph = Graph()
    watched.created(graph, Operation(NAME))
    with only_looking():
        watched.exported(a_graph_def(NAME.encode()))
    del graph
    gc.collect()

    assert NAME not in entries


def test_exported_graph_is_remembered_by_the_next_repair(entries):
    pinned, graph = set(), Graph()
    first = WatchedGraphs(entries, pinned)
    first.exported(a_graph_def(NAME.encode()))
    first.restore()
    WatchedGraphs(entries, pinned).created(graph, Operation(NAME))
    del graph
    gc.collect()

    assert NAME in entries


# Python 3.12 begins with 375 objects that it has frozen itself.
@pytest.mark.parametrize("frozen", [0, 375])
def test_gradients_from_before_get_their_graphs(watched, entries, monkeypatch, frozen):
    monkeypatch.setattr(gc, "get_freeze_count", lambda: frozen)
    kept = Graph(Operation(NAME), Operation("MatMul"))
    lost = Graph(Operation("CustomGradient-8"))
    entries["CustomGradient-8"]["type"].closed_over = lost
    del lost
    watched.adopt(Graph)
    gc.collect()

    assert [*entries] == [NAME, "MatMul"]
    assert kept.operations


def test_gradients_from_before_stay_where_objects_are_frozen(watched, entries):
    graph = Graph(Operation(NAME))
    gc.freeze()
    try:
        watched.adopt(Graph)
    finally:
        gc.unfreeze()
    watched.created(graph, Operation(NAME))
    del graph
    gc.collect()

    assert len(entries) == 3


def test_gradients_from_before_stay_where_a_graph_does_not_tell(watched, entries):
    class Closed(Graph):
        def as_graph_def(self):
            raise RuntimeError

    graphs = [Graph(Operation(NAME)), Closed()]
    watched.adopt(Graph)
    graphs.clear()
    gc.collect()

    assert all(type(entry) is dict for entry in entries.values())


def test_restored_registry_is_as_before(watched, entries):
    before, graphs = {**entries}, [Graph(), Graph()]
    for graph in graphs:
        watched.created(graph, Operation(NAME))
        watched.created(graph, Operation("CustomGradient-8"))
    watched.restore()
    assert entries == before
    assert all(type(entry) is dict for entry in entries.values())
    assert all(vars(graph) == {"operations": ()} for graph in graphs)
    watched.created(graphs[0], Operation(NAME))
    graphs.clear()
    gc.collect()

    assert entries == before


def test_graph_that_takes_no_attributes_changes_nothing(watched, entries):
    watched.created(object(), Operation(NAME))
    gc.collect()

    assert type(entries[NAME]) is dict


def test_graph_that_takes_no_attributes_is_not_robbed_by_another(watched, entries):
    graph = Graph()
    watched.created(graph, Operation(NAME))
    watched.created(object(), Operation(NAME))
    del graph
    gc.collect()

    assert type(entries[NAME]) is dict


def test_function_that_cannot_be_held_weakly_stays(watched, entries):
    entries[NAME]["type"] = 3
    watched.created(Graph(), Operation(NAME))

    assert entries[NAME] == {"type": 3, "location": "train.py:3"}


def test_threads_do_not_lose_each_others_gradients():
    entries = {f"CustomGradient-{n}": an_entry() for n in range(400)}
    watched, kept = WatchedGraphs(entries), []

    def work():
        for number in range(400):
            graph = Graph()
            watched.created(graph, Operation(f"CustomGradient-{number}"))
            if number % 2:
                kept.append(graph)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()

    assert {f"CustomGradient-{n}" for n in range(1, 400, 2)} == {*entries}
    assert all(entry["type"]() for entry in entries.values())
