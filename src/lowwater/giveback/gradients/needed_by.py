"""Which graphs need which gradients: those that name them."""

import re
from collections.abc import Iterable
from typing import Any

from lowwater.giveback.gradients.entries import NAME, only_looking

_NAME_IN_BYTES = re.compile(NAME.pattern.encode())


def graphs_by_name(
    names: Iterable[str], graphs: Iterable[Any], graph_class: type
) -> dict[str, list[Any]]:
    """The graphs that name each gradient, in their operations or in their libraries.

    Among the graphs may be functions of which there is only a definition.
    """
    wanted, found = set(names), dict[str, list[Any]]()
    for thing in graphs:
        definition = _definition_of(thing, graph_class)
        for name in wanted.intersection(_names_in(definition)):
            found.setdefault(name, []).append(thing)
    return found


def _definition_of(thing: Any, graph_class: type) -> bytes:  # noqa: ANN401 - TensorFlow's
    is_graph = isinstance(thing, graph_class)
    if is_graph:
        with only_looking():
            return bytes(thing.as_graph_def().SerializeToString())
    # The graph of a function is among the graphs itself.
    return b"" if _has_graph(thing) else bytes(thing.definition.SerializeToString())


def _has_graph(function: Any) -> bool:  # noqa: ANN401 - an AtomicFunction
    return function._cached_graph is not None or function._generated_graph is not None  # noqa: SLF001


def _names_in(definition: bytes) -> set[str]:
    return {name.decode() for name in _NAME_IN_BYTES.findall(definition)}
