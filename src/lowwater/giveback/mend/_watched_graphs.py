"""Watches operations come into graphs: a graph owns the gradients that its operations name."""

import sys
from collections.abc import Collection, Iterator
from types import CodeType, FrameType
from typing import Any

from lowwater.agent.census.instances import instances_of, is_complete
from lowwater.giveback.gradients.entries import NAME, is_only_looking
from lowwater.giveback.gradients.needed_by import graphs_by_name
from lowwater.giveback.gradients.ownership import Ownership
from lowwater.model.interruption import let_through

# The kind of operation that `tf.custom_gradient` puts into a graph, and its attribute.
CARRIER = "IdentityN"
GRADIENT_OP_TYPE = "_gradient_op_type"
_ATTRIBUTE = "_lowwater_gradients"
# How far up a writer of logs stands above the function that exports a graph.
_NEAR = 4


class WatchedGraphs:
    """Gives each graph the gradients that it names: traced, copied, imported, or there before.

    A graph that was written down may come back when it is gone: its gradients stay.
    """

    def __init__(
        self,
        entries: dict[str, dict[str, Any]],
        pinned: set[str] | None = None,
        writers: Collection[CodeType] = (),
    ) -> None:
        """Look after this table of the registry, apart from the names that are pinned.

        What a `writer` exports goes into a file of logs, and never becomes a graph again.
        """
        self._entries = entries
        self._ownership = Ownership(entries, _ATTRIBUTE, pinned)
        self._writers = writers

    def created(self, graph: Any, operation: Any) -> None:  # noqa: ANN401 - TensorFlow's
        """An operation came into a graph: traced, copied or imported."""
        # This is the path of every operation: 0.3 µs where making one takes 30.
        if operation.type == CARRIER:
            name = _name_on(operation)
            if name is not None:
                self._ownership.own(graph, name)

    def exported(self, graph_def: Any) -> None:  # noqa: ANN401
        """A graph was written down, and may be read again when it is gone: keep its gradients."""
        names = [name for name in {*_names_in(graph_def)} if name in self._entries]
        if names and not is_only_looking() and not self._is_for_a_log():
            self._ownership.pin(names)

    def adopt(self, graph_class: type) -> None:
        """Find the owners of the entries that were there before us."""
        names = [*filter(NAME.fullmatch, [*self._entries])]
        try:
            # None as a rule, and then there is no need to look at all objects.
            graphs = _all_of(graph_class) if names else []
            for name, needing in graphs_by_name(names, graphs, graph_class).items():
                for graph in needing:
                    self._ownership.own(graph, name)
        except Exception as error:  # noqa: BLE001 - an owner that is missed would lose its gradient
            self._ownership.pin(names)
            let_through(error)

    def restore(self) -> None:
        """Give all functions that are alive back to the registry."""
        self._ownership.restore()

    def _is_for_a_log(self) -> bool:
        """Whether one of the writers is among the next callers."""
        frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 - the public way costs milliseconds
        for _ in range(_NEAR):
            if frame is None:
                return False
            if frame.f_code in self._writers:
                return True
            frame = frame.f_back
        return False


def _all_of(kind: type) -> list[Any]:
    """All living objects of this kind, or an error where some may be missed."""
    if not is_complete():
        msg = "the garbage collector does not list frozen objects"
        raise LookupError(msg)
    return instances_of(kind)


def _name_on(operation: Any) -> str | None:  # noqa: ANN401
    """The name of the custom gradient that an operation bears."""
    try:
        name = operation.get_attr(GRADIENT_OP_TYPE).decode()
    except (ValueError, AttributeError):  # it bears none
        return None
    return name if NAME.fullmatch(name) else None


def _names_in(graph_def: Any) -> Iterator[str]:  # noqa: ANN401
    """The custom gradients that a `GraphDef` names, in the graph itself and in its functions."""
    functions = (function.node_def for function in graph_def.library.function)
    for nodes in (graph_def.node, *functions):
        for node in nodes:
            if node.op == CARRIER and GRADIENT_OP_TYPE in node.attr:
                yield node.attr[GRADIENT_OP_TYPE].s.decode(errors="replace")
