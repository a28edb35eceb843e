"""Who owns which gradient: the graphs whose operations bear its name."""

import contextlib
import sys
import threading
import weakref
from collections.abc import Collection, Iterator
from functools import partial
from types import CodeType, FrameType
from typing import Any

from lowwater.agent.census.instances import instances_of, is_complete
from lowwater.giveback.gradient_entries import FUNCTION, NAME, WeakEntry, is_only_looking
from lowwater.model.interruption import let_through

# The kind of operation that `tf.custom_gradient` puts into a graph, and its attribute.
CARRIER = "IdentityN"
GRADIENT_OP_TYPE = "_gradient_op_type"
# What graphs keep their gradients under; a graph has no `__dict__`, but it takes attributes.
_ATTRIBUTE = "_lowwater_gradients"
# How far up a writer of logs stands above the function that exports a graph.
_NEAR = 4


class Owners:
    """Hands the functions of the registry over to graphs, and gives them back.

    Each method may be called by any thread and is safe to call from within TensorFlow: when
    something is amiss the registry keeps its function, as it would without us.
    """

    def __init__(
        self,
        entries: dict[str, dict[str, Any]],
        pinned: set[str] | None = None,
        writers: Collection[CodeType] = (),
    ) -> None:
        """Look after this table of the registry, but for those names that are pinned.

        What a `writer` exports goes into a file of logs, and never becomes a graph again.
        """
        self._entries = entries
        self._graphs: weakref.WeakSet[Any] = weakref.WeakSet()
        self._pinned = set() if pinned is None else pinned
        self._writers = writers
        self._is_on = True
        # Taken by one who holds the lock of a graph; whoever holds it takes no other.
        self._lock = threading.RLock()

    def created(self, graph: Any, operation: Any) -> None:  # noqa: ANN401 - TensorFlow's
        """An operation came into a graph: traced, copied or imported."""
        # This is the path of every operation: 0.3 µs where making one takes 30.
        if operation.type == CARRIER:
            name = _name_on(operation)
            if name is not None:
                self.own(graph, name)

    def own(self, graph: Any, name: str) -> None:  # noqa: ANN401
        """Let this graph keep the gradient of this name."""
        with self._lock:
            function = self._function_of(name)
            if not self._is_on or function is None or name in self._pinned:
                return
            try:
                self._keep(graph, name, function)
                self._loosen(name)
            except Exception as error:  # noqa: BLE001 - a graph or a function of another make
                self._pin(name)
                let_through(error)

    def exported(self, graph_def: Any) -> None:  # noqa: ANN401
        """A graph was written down, and may be read again when it is gone: keep its gradients."""
        names = {name for name in _names_in(graph_def) if name in self._entries}
        if not names or is_only_looking() or self._is_for_a_log():
            return
        with self._lock:
            for name in names:
                self._pin(name)

    def adopt(self, graph_class: type) -> None:
        """Find the owners of the entries that were there before us."""
        names = [*filter(NAME.fullmatch, [*self._entries])]
        try:
            # None as a rule, and then there is no need to look at all objects.
            graphs = _all_of(graph_class) if names else []
            for graph, operations in [(graph, graph.get_operations()) for graph in graphs]:
                for operation in operations:
                    self.created(graph, operation)
        except Exception as error:  # noqa: BLE001 - an owner that is missed would lose its gradient
            with self._lock:
                for name in names:
                    self._pin(name)
            let_through(error)

    def restore(self) -> None:
        """Give all living functions back to the registry."""
        with self._lock:
            self._is_on = False
            for name in [*self._entries]:
                self._tighten(name)
            for graph in [*self._graphs]:
                with contextlib.suppress(AttributeError):
                    delattr(graph, _ATTRIBUTE)

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

    def _function_of(self, name: str) -> Any:  # noqa: ANN401
        try:
            return self._entries[name][FUNCTION]
        except LookupError:
            return None

    def _keep(self, graph: Any, name: str, function: Any) -> None:  # noqa: ANN401
        kept = getattr(graph, _ATTRIBUTE, None)
        if kept is None:
            kept = {}
            setattr(graph, _ATTRIBUTE, kept)
            self._graphs.add(graph)
        kept[name] = function

    def _loosen(self, name: str) -> None:
        entry = self._entries[name]
        if isinstance(entry, WeakEntry):
            return
        # The last owner is gone: called by the collector, at any point, where Python discards what
        # a signal handler raises. So this runs no Python, and takes no lock.
        self._entries[name] = WeakEntry(entry, partial(self._entries.pop, name))

    def _tighten(self, name: str) -> None:
        entry = self._entries.get(name)
        strong = entry.as_entry() if isinstance(entry, WeakEntry) else None
        if strong is not None:
            self._entries[name] = strong

    def _pin(self, name: str) -> None:
        self._pinned.add(name)
        self._tighten(name)


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
