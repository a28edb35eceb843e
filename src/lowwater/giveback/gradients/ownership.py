"""Graphs own the functions that compute their gradients; the registry refers to them weakly."""

import contextlib
import threading
import weakref
from functools import partial
from typing import Any

from lowwater.giveback.gradients.entries import FUNCTION, WeakEntry
from lowwater.model.interruption import let_through


class Ownership:
    """Hands functions of the registry over to graphs, and takes them back.

    A function that a graph owns dies with the last of its graphs. Each method may be called by
    any thread and is safe to call from within TensorFlow: when something is amiss the registry
    keeps its function, as it would without us.
    """

    def __init__(
        self, entries: dict[str, dict[str, Any]], attribute: str, pinned: set[str] | None = None
    ) -> None:
        """Look after this table of the registry, apart from the names that are pinned.

        A graph keeps its functions under the `attribute`: it has no `__dict__`, but it takes
        attributes.
        """
        self._entries = entries
        self._attribute = attribute
        self._graphs: weakref.WeakSet[Any] = weakref.WeakSet()
        self._pinned = set() if pinned is None else pinned
        self._is_on = True
        # Taken by one who holds the lock of a graph; whoever holds it takes no other.
        self._lock = threading.RLock()

    def own(self, graph: Any, name: str) -> None:  # noqa: ANN401 - TensorFlow's
        """Let this graph keep the gradient of this name."""
        with self._lock:
            function = self._function_of(name)
            if not self._is_on or function is None or name in self._pinned:
                return
            try:
                self._keep(graph, name, function)
                self._loosen(name)
            except Exception as error:  # noqa: BLE001 - a graph or a function of another make
                self.pin([name])
                let_through(error)

    def pin(self, names: list[str]) -> None:
        """Let the registry keep these from now on."""
        with self._lock:
            for name in names:
                self._pinned.add(name)
                self._tighten(name)

    def restore(self) -> None:
        """Give all functions that are alive back to the registry."""
        with self._lock:
            self._is_on = False
            for name in [*self._entries]:
                self._tighten(name)
            for graph in [*self._graphs]:
                with contextlib.suppress(AttributeError):
                    delattr(graph, self._attribute)

    def _function_of(self, name: str) -> Any:  # noqa: ANN401
        try:
            return self._entries[name][FUNCTION]
        except LookupError:
            return None

    def _keep(self, graph: Any, name: str, function: Any) -> None:  # noqa: ANN401
        kept = getattr(graph, self._attribute, None)
        if kept is None:
            kept = {}
            setattr(graph, self._attribute, kept)
            self._graphs.add(graph)
        kept[name] = function

    def _loosen(self, name: str) -> None:
        entry = self._entries[name]
        if isinstance(entry, WeakEntry):
            return
        # The last owner is gone: called by the collector, at any point, where Python discards what
        # a signal handler raises. So this runs no Python, and takes no lock.
        self._entries[name] = WeakEntry(entry, partial(self._entries.pop, name), made_by=self)

    def _tighten(self, name: str) -> None:
        entry = self._entries.get(name)
        # What `mend()` has loosened stays loose when `release()` takes back what it has lent.
        if isinstance(entry, WeakEntry) and entry.made_by is self:
            strong = entry.as_entry()
            if strong is not None:
                self._entries[name] = strong
