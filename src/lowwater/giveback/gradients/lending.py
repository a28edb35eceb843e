"""Lends the entries of TensorFlow's gradient registry to the graphs that need them.

The registry holds every custom gradient for ever, and a gradient holds the graph that it was
traced in (LW205). While they are lent, each graph that names an entry owns it, and the registry
refers to it weakly. A collection then takes the graphs that nobody else holds, and their
gradients with them. What still lives afterwards is put back as it was.

Nothing is guessed: the collector itself decides which graphs are dead, and an entry lives as
long as any graph that names it. That includes graphs into which an operation was copied
(SavedModels, inlined and imported functions), for they are searched, functions in their
libraries included.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from lowwater.agent.census.instances import is_complete
from lowwater.agent.census.roots import frames_now
from lowwater.giveback.gradients.entries import EXPORTED, FUNCTION, LOCATION, NAME
from lowwater.giveback.gradients.needed_by import graphs_by_name
from lowwater.giveback.gradients.ownership import Ownership
from lowwater.giveback.living import DEFINITION, GRAPH, loaded, strong

_OPS = "tensorflow.python.framework.ops"
_OWNED = "_lowwater_lent_gradients"
# Between our search and the collection no operation may find its way into another graph.
_COPYING = (
    "tensorflow.python.framework.func_graph",
    "tensorflow.python.framework.function_def_to_graph",
    "tensorflow.python.framework.importer",
    "tensorflow.python.framework.convert_to_constants",
    "tensorflow.python.eager.lift_to_graph",
    "tensorflow.python.saved_model",
)
# How deep the graph lies in what a gradient function has closed over.
_DEEPEST = 4


class Table(NamedTuple):
    """TensorFlow's registry, or the reason why it is left alone."""

    entries: dict[str, Any]
    why_not: str = ""
    is_loaded: bool = True

    @property
    def names(self) -> list[str]:
        """The custom gradients in it; a mended or a lent one is not the registry's.

        Nor are those of graphs that were exported while mended: they may be imported again.
        """
        return [
            name
            for name, entry in [*self.entries.items()]
            if NAME.fullmatch(name)
            and name not in EXPORTED
            and type(entry) is dict
            and type(entry.get(FUNCTION)) is FunctionType
        ]


def table() -> Table:
    """The registry as it is now."""
    if loaded(_OPS, "Graph") is None:
        return Table({}, "TensorFlow is not imported", is_loaded=False)
    entries = getattr(loaded(_OPS, "gradient_registry"), "_registry", None)
    # Not a subclass: another tool, or `mend()`, may keep the gradients in a way of its own.
    if type(entries) is not dict or not _looks_as_expected(entries):
        return Table(
            {}, "Lowwater does not support the way this TensorFlow release keeps gradients"
        )
    if not is_complete():
        return Table({}, "gc.freeze() hides the graphs that may need their gradients")
    return Table(entries)


def at_copying() -> str:
    """Why the registry must be left alone now: somebody may be copying a graph into another."""
    for frame in frames_now(lambda _: False):
        module = frame.f_globals.get("__name__")
        if isinstance(module, str) and module.startswith(_COPYING):
            return f"a graph is being traced or loaded in {frame.f_code.co_name}()"
    return ""


def graphs_now() -> list[Any]:
    """All graphs that live, and all definitions: of some functions there is nothing else."""
    return strong(GRAPH, DEFINITION)


@contextmanager
def lent(graphs: Callable[[], list[Any]] = graphs_now) -> Iterator[Table]:
    """Inside the block a collection takes dead graphs, in spite of the registry.

    `graphs` gives all that live, where somebody knows them already.
    """
    found = table()
    names = found.names if not at_copying() else []
    if not names:
        yield found
        return
    ownership = Ownership(found.entries, _OWNED)
    try:
        _lend(found.entries, names, graphs, ownership)
        yield found
    finally:
        ownership.restore()


def _looks_as_expected(entries: dict[str, Any]) -> bool:
    sample = next((entry for name, entry in [*entries.items()] if NAME.fullmatch(name)), None)
    return sample is None or type(sample) is not dict or {FUNCTION, LOCATION} <= sample.keys()


def _lend(
    entries: dict[str, Any],
    names: list[str],
    graphs: Callable[[], list[Any]],
    ownership: Ownership,
) -> None:
    by_name = graphs_by_name(names, graphs(), loaded(_OPS, "Graph"))
    for name in names:
        # Where nobody is known who needs it, it stays.
        for graph in by_name.get(name) or _graphs_below(entries[name][FUNCTION]):
            ownership.own(graph, name)


def _graphs_below(function: FunctionType) -> list[Any]:
    """The graphs that a gradient function reaches through what it has closed over."""
    kind = loaded(_OPS, "Graph")
    level: list[Any] = [function]
    for _ in range(_DEEPEST):
        level = [part for thing in level for part in _inner(thing)]
        graphs = {id(graph): graph for graph in map(_graph_of, level) if isinstance(graph, kind)}
        if graphs:
            return [*graphs.values()]
    return []


def _inner(thing: Any) -> list[Any]:  # noqa: ANN401
    """What an object holds itself; a function or a class would lead to its module, and on."""
    if type(thing) is FunctionType:
        return [*(thing.__closure__ or ())]
    return [] if isinstance(thing, type | ModuleType) else gc.get_referents(thing)


def _graph_of(thing: Any) -> Any:  # noqa: ANN401
    """The graph of a tensor, of an operation or of a concrete function."""
    try:
        return thing.graph
    except Exception:  # noqa: BLE001 - most things have none, and an eager tensor raises
        return None
