"""LW205 gradient-registry: a gradient lives as long as the graphs whose operations need it."""

import sys
from contextlib import ExitStack
from types import FunctionType
from typing import Any

from lowwater.agent.instrumentation._inject import injected
from lowwater.agent.instrumentation._placement import innermost
from lowwater.causes.upstream.gradient_registry import GRADIENT_REGISTRY
from lowwater.giveback.gradients.entries import EXPORTED
from lowwater.giveback.gradients.ownership import Ownership
from lowwater.giveback.mend._repair import Repair, Undo, expect
from lowwater.giveback.mend._watched_graphs import CARRIER, GRADIENT_OP_TYPE, WatchedGraphs

_OPS = "tensorflow.python.framework.ops"
_CUSTOM_GRADIENT = "tensorflow.python.ops.custom_gradient"
_LOGS = "tensorflow.python.ops.summary_ops_v2"
_ATOMIC = "tensorflow.python.eager.polymorphic_function.atomic_function"


class GradientRegistryRepair(Repair):
    """Lets graphs, not the registry, keep the functions that compute custom gradients.

    TensorFlow registers each use of `tf.custom_gradient` in a graph under a name of its own,
    `CustomGradient-<n>`, for good. Its function refers to tensors of the graph, and so the graph
    stays for good as well. But the name is only ever looked up for an operation that bears it.
    So as soon as an operation with that name comes into a graph, by whatever way, the graph gets
    a reference to the function, and the registry keeps a weak one. The function dies with the
    last of its graphs.

    Where this cannot be known, the function stays, as it does without the repair: before there is
    an operation with its name, and once a graph with its name was exported as a `GraphDef`, which
    may come back when the graph is gone. Graphs that go into the logs of TensorBoard do not.
    """

    leak = GRADIENT_REGISTRY
    library = "TensorFlow"
    first, last = (2, 16), (2, 21)

    def check(self) -> None:
        """See that names, tables and functions are those that the repair was made for."""
        ops, custom_gradient = sys.modules[_OPS], sys.modules[_CUSTOM_GRADIENT]
        registry = ops.gradient_registry
        expect(registry is ops._gradient_registry, "there are two gradient registries")  # noqa: SLF001
        expect(type(registry._registry) is dict, "the gradient registry is not a dict")  # noqa: SLF001
        _check_names(ops, custom_gradient)
        _check_graphs(ops)
        _check_functions_keep_graphs(sys.modules[_ATOMIC])
        expect(hasattr(sys.modules[_LOGS], "_serialize_graph"), "graphs are logged differently")
        _try_out(type(registry))

    def apply(self) -> Undo:
        """Watch operations come into graphs; then find the graphs that were there before."""
        ops = sys.modules[_OPS]
        graph = ops.Graph
        entries, logs = ops.gradient_registry._registry, sys.modules[_LOGS]  # noqa: SLF001
        # By this the callback `TensorBoard` writes the graph of every model that it sees.
        writers = [innermost(logs._serialize_graph).__code__]  # noqa: SLF001
        graphs = WatchedGraphs(entries, EXPORTED, writers)
        create, export = innermost(graph._create_op_helper), innermost(graph._as_graph_def)  # noqa: SLF001
        with ExitStack() as undo:
            undo.callback(graphs.restore)
            undo.enter_context(injected(create, graphs.created, "end", "self", "op"))
            undo.enter_context(injected(export, graphs.exported, "end", "graph"))
            graphs.adopt(graph)
            return undo.pop_all().close


def _check_names(ops: Any, custom_gradient: Any) -> None:  # noqa: ANN401 - TensorFlow's modules
    """The names of gradients and of the attribute that bears them."""
    decorate, generate = custom_gradient._graph_mode_decorator, custom_gradient.generate_name  # noqa: SLF001
    expect(CARRIER in _constants(decorate), f"custom gradients are not carried by {CARRIER}")
    expect("CustomGradient-%s" in _constants(generate), "custom gradients have other names")
    expect(
        GRADIENT_OP_TYPE in _constants(ops.get_gradient_function),
        f"gradients are not looked up by {GRADIENT_OP_TYPE}",
    )


def _check_graphs(ops: Any) -> None:  # noqa: ANN401
    """The one place where every new operation passes, and the one where graphs are exported."""
    graph = ops.Graph
    create, export = innermost(graph._create_op_helper), innermost(graph._as_graph_def)  # noqa: SLF001
    expect(_parameters(create)[:2] == ("self", "op"), "operations are not created as expected")
    for name in ("_create_op_internal", "_create_op_from_tf_operation"):
        maker = innermost(getattr(graph, name))
        expect(create.__name__ in maker.__code__.co_names, f"{name} creates operations differently")
    expect("graph" in export.__code__.co_varnames, "graphs are not exported as expected")


def _check_functions_keep_graphs(atomic_function: Any) -> None:  # noqa: ANN401
    """A function that can still be called has to keep the graph that it was traced into."""
    init = innermost(atomic_function.AtomicFunction.__init__)
    expect("cached_graph" in _parameters(init), "functions do not keep their graphs")


def _try_out(kind: Any) -> None:  # noqa: ANN401 - the class of the registry
    """Take one entry through its life, in a registry that nobody uses."""
    registry, name = kind("trial"), "CustomGradient-0"

    def gradient_lives() -> bool:
        """Make a gradient and its graph, which are gone when this returns."""
        graph, gradient = type("Graph", (), {})(), lambda: None
        registry.register(gradient, name)
        Ownership(registry._registry, "_lowwater_trial").own(graph, name)  # noqa: SLF001
        return registry.lookup(name) is gradient

    expect(gradient_lives(), "the registry does not accept a weak entry")
    expect(name not in registry.list(), "the registry does not release an entry")


def _constants(function: Any) -> tuple[object, ...]:  # noqa: ANN401
    return innermost(function).__code__.co_consts


def _parameters(function: FunctionType) -> tuple[str, ...]:
    code = function.__code__
    return code.co_varnames[: code.co_argcount]
