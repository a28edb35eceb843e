"""What a Python function keeps alive where a library keeps the function."""

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from lowwater.check.lifetimes import calls_behind
from lowwater.check.lookup import binder, scope_of
from lowwater.check.scopes import FUNCTIONS, SourceScope
from lowwater.check.things import HEAVY, ValueKind

if TYPE_CHECKING:
    from lowwater.check.rounds import Round
    from lowwater.check.source import Source

_DATA: Final = HEAVY | {ValueKind.MODEL, ValueKind.DATASET, ValueKind.HISTORY}


def keeps_of_round(source: "Source", function: ast.expr, repeated: "Round") -> bool:
    """Whether a function that is handed on keeps something that was made in the round.

    A method keeps its object, and a function within a function what it takes from that one.
    """
    if isinstance(function, ast.Attribute):
        return source.is_of_round(function.value, repeated)
    if isinstance(function, ast.Call):
        given = (*function.args, *(one.value for one in function.keywords))
        return any(is_new(source, one, repeated) for one in given)
    return any(
        thing.kind is ValueKind.FUNCTION
        and thing.scope is not None
        and repeated.holds(thing.scope.node)
        and any(is_new(source, name, repeated) for name in captured(thing.scope))
        for thing in source.things(function)
    )


def is_new(source: "Source", value: ast.expr, repeated: "Round") -> bool:
    """Whether a value is another one in each round, and not the same one again."""
    if source.changes(value, repeated) or source.is_of_round(value, repeated):
        return True
    names = (one for one in ast.walk(value) if isinstance(one, ast.Name))
    return any(any(True for _ in calls_behind(source, name, repeated)) for name in names)


def captured(function: SourceScope) -> Iterator[ast.Name]:
    """The names that a function takes from the functions around it, and so keeps."""
    own = [*function.inside()]
    for node in ast.walk(function.node):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            holder = binder(node.id, scope_of(node))
            if holder is not None and holder not in own and _has_cells(holder):
                yield node


def _has_cells(scope: SourceScope) -> bool:
    return isinstance(scope.node, (*FUNCTIONS, ast.Lambda))


def data_of_round(source: "Source", value: ast.expr, repeated: "Round") -> ast.expr | None:
    """The data of the round that a function keeps: what it refers to, or was bound to it."""
    for held in _held(source, value, repeated):
        if source.kinds(held) & _DATA and is_new(source, held, repeated):
            return held
    return None


def _held(source: "Source", value: ast.expr, repeated: "Round") -> Iterator[ast.expr]:
    """All that a lambda, an inner function or a partial function keeps alive."""
    for call in calls_behind(source, value, repeated):
        if source.calls_library(call, "functools.partial"):
            yield from (*call.args[1:], *(one.value for one in call.keywords))
    for thing in source.things(value):
        if thing.kind is ValueKind.FUNCTION and thing.scope is not None:
            yield from captured(thing.scope)
            given = getattr(thing.scope.node, "args", None)
            if given is not None:
                yield from (one for one in (*given.defaults, *given.kw_defaults) if one is not None)


def takes_of_round(source: "Source", value: ast.expr, repeated: "Round") -> bool:
    """Whether a value is made in the round from something that is new in it."""
    return any(
        keeps_of_round(source, call, repeated) for call in calls_behind(source, value, repeated)
    )
