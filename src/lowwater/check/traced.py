"""What is part of a graph: functions that are traced, and the calls of them."""

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from lowwater.check import lifetimes
from lowwater.check.imports import is_import_of_library
from lowwater.check.lookup import last_name, scope_of
from lowwater.check.scopes import FUNCTIONS, How, SourceScope
from lowwater.check.things import Thing, ValueKind

if TYPE_CHECKING:
    from lowwater.check.source import Source

# The methods of a model or layer that Keras traces.
_TRACED_METHODS: Final = frozenset(
    {"call", "train_step", "test_step", "predict_step", "compute_loss", "build", "__init__"}
)


def calls_of_traced(source: "Source") -> Iterator[tuple[ast.Call, Thing]]:
    """Calls of what `tf.function` or `jax.jit` has wrapped, outside of such functions."""
    for call in source.calls:
        if not _maybe_traced(source, call.func):
            continue
        for thing in source.things(call.func):
            if thing.kind is ValueKind.TRACED and not source.is_traced(scope_of(call)):
                yield call, thing
                break


def _maybe_traced(source: "Source", func: ast.expr) -> bool:
    """A look at the name alone: it is wrapped in this file, or imported from another."""
    root = func.value if isinstance(func, ast.Attribute) else func
    is_imported = isinstance(root, ast.Name) and root.id in source.imported_names
    return is_imported or last_name(func) in source.wrapped_names


def imported_names(source: "Source") -> frozenset[str]:
    """The names that are imported from other files of the project."""
    return frozenset(
        name
        for scope in source.scopes
        for name, bindings in scope.binds.items()
        for one in bindings
        if one.how is How.IMPORT and not is_import_of_library(*one.node)
    )


def wrapped_names(source: "Source") -> frozenset[str]:
    """The names of what has a decorator, or is the result of a wrapper."""
    found: set[str] = set()
    for scope in source.scopes:
        if isinstance(scope.node, FUNCTIONS) and scope.node.decorator_list:
            found.add(scope.name)
        for name, bindings in scope.binds.items():
            if any(_is_wrapping(one.value) for one in bindings):
                found.add(name)
        for store in scope.stores:
            if _is_wrapping(store.binding.value) and isinstance(store.target, ast.Attribute):
                found.add(store.target.attr)
    return frozenset(found)


def _is_wrapping(value: ast.expr | None) -> bool:
    """Whether a value may be the result of `tf.function(…)` or `jax.jit(…)`."""
    return isinstance(value, ast.Call) and last_name(value.func) in ("function", "jit", "partial")


def is_traced(source: "Source", scope: SourceScope) -> bool:
    """Whether a scope is itself part of a graph."""
    node = scope.node
    is_own = isinstance(node, ast.FunctionDef) and any(
        thing.name in ("tensorflow.function", "jax.jit")
        for one in node.decorator_list
        for thing in source.things(one.func if isinstance(one, ast.Call) else one)
    )
    is_keras = (
        scope.name in _TRACED_METHODS
        and scope.outer is not None
        and (
            scope.outer.is_class
            and source.names.instance(scope.outer).kind in (ValueKind.MODEL, ValueKind.LAYER)
        )
    )
    return is_own or is_keras or (scope.outer is not None and source.is_traced(scope.outer))


def is_eager(source: "Source", node: ast.AST) -> bool:
    """Whether a node is always run by Python, and never traced into a graph."""
    return not lifetimes.is_in_graph(source, scope_of(node))
