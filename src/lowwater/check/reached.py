"""What is called from a place: there, and in the functions of the project called there."""

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from lowwater.check.lookup import binder, scope_of
from lowwater.check.scopes import How, SourceScope, around
from lowwater.check.things import ValueKind

if TYPE_CHECKING:
    from lowwater.check.source import Source

_MOST_HOPS: Final = 3


def reached(source: "Source", node: ast.AST) -> Iterator[ast.Call]:
    """All calls that are made inside a node, and in the functions of the project called there.

    As far as a few calls lead; each function is entered once.
    """
    yield from (call for call in source.calls if node in around(call))
    for function in functions_reached(source, node):
        for inner in function.inside():
            yield from inner.calls


def calls_inside(source: "Source", node: ast.AST) -> Iterator[ast.Call]:
    """The calls that are written inside a node."""
    return (call for call in source.calls if node in around(call))


def functions_reached(source: "Source", node: ast.AST) -> list[SourceScope]:
    """The functions of the project called inside a node, as far as a few calls lead."""
    if node not in source.kept.reached_from:
        source.kept.reached_from[node] = list(_reach(source, node))
    return source.kept.reached_from[node]


def _reach(source: "Source", node: ast.AST) -> Iterator[SourceScope]:
    seen: set[SourceScope] = set()
    waiting = [(call, _MOST_HOPS) for call in source.calls if node in around(call)]
    for call, hops in waiting:
        for thing in source.things(call.func):
            scope = thing.scope
            if scope is not None and scope.is_class:
                scope = scope.method("__init__") if thing.kind is ValueKind.CLASS else None
            if scope is not None and hops and scope not in seen:
                seen.add(scope)
                yield scope
                inside = [one for inner in scope.inside() for one in inner.calls]
                waiting += [(one, hops - 1) for one in inside]


def uses_library(source: "Source", function: SourceScope, *packages: str) -> bool:
    """Whether a function, or what it calls, computes with one of these libraries."""
    for call in source.reached(function.node):
        for thing in source.things(call.func):
            owner = thing if thing.of is None else thing.of
            if thing.scope is None and owner.name.partition(".")[0] in packages:
                return True
    return False


def is_of_loop(source: "Source", func: ast.expr, loop: ast.AST) -> bool:
    """Whether the object of a method may be made in a loop, or in a function called there."""
    owner = func.value if isinstance(func, ast.Attribute) else func
    inside = {loop, *(one.node for one in functions_reached(source, loop))}
    if isinstance(owner, ast.Name):
        holder = binder(owner.id, scope_of(owner))
        bound = [] if holder is None else holder.binds[owner.id]
    elif isinstance(owner, ast.Attribute):
        classes = [one.scope for one in source.things(owner.value) if one.scope is not None]
        bound = [
            binding
            for cls in classes
            if cls.is_class
            for binding in source.names.field_bindings(cls, owner.attr)
        ]
    else:
        return True
    return any(
        one.how is How.PARAMETER or (isinstance(one.node, ast.AST) and _is_in(one.node, inside))
        for one in bound
    )


def _is_in(node: ast.AST, places: set[ast.AST]) -> bool:
    return node in places or any(outer in places for outer in around(node))
