"""What repeats a node: loops, the rounds of a callback, and the loops of callers."""

import ast
from typing import TYPE_CHECKING, Final

from lowwater.check.lookup import scope_of
from lowwater.check.rounds import Passage, Round, lambda_round, loops_around, rounds_of_methods
from lowwater.check.scopes import COMPREHENSIONS, SourceScope

if TYPE_CHECKING:
    from lowwater.check.source import Source

_MOST_HOPS: Final = 3


def rounds(source: "Source", node: ast.AST, hops: int = _MOST_HOPS) -> list[Round]:
    """What repeats a node, the innermost first: loops, a callback, the loops of callers."""
    found = [Round("iteration", loop) for loop in loops_around(node)]
    scope: SourceScope | None = scope_of(node)
    while scope is not None and isinstance(scope.node, COMPREHENSIONS):
        scope = scope.outer
    if scope is None or scope.outer is None:
        return found
    own = source.round_of(scope)
    if own is not None:
        return [*found, own]
    return [*found, *_rounds_of_callers(source, scope, hops)] if hops else found


def _rounds_of_callers(source: "Source", function: SourceScope, hops: int) -> list[Round]:
    key = (function, hops)
    if key not in source.kept.rounds_of_callers:
        source.kept.rounds_of_callers[key] = []
        source.kept.rounds_of_callers[key] = [
            one.beyond(Passage(function, call))
            for call in source.names.calls_of_function(function)
            for one in source.rounds(call, hops - 1)
        ]
    return source.kept.rounds_of_callers[key]


def round_of(source: "Source", scope: SourceScope) -> Round | None:
    """The round that a function is, if a library calls it every epoch or batch."""
    if scope not in source.kept.round_of:
        source.kept.round_of[scope] = _find_round(source, scope)
    return source.kept.round_of[scope]


def _find_round(source: "Source", scope: SourceScope) -> Round | None:
    if isinstance(scope.node, ast.Lambda):
        name = lambda_round(scope.node)
        return None if name is None else Round(name, scope.node)
    cls = scope.outer
    if cls is None or not scope.is_function or not cls.is_class:
        return None
    if cls not in source.kept.rounds_of_methods:
        kind = source.names.instance(cls).kind
        source.kept.rounds_of_methods[cls] = rounds_of_methods(cls, kind)
    name = source.kept.rounds_of_methods[cls].get(scope)
    return None if name is None else Round(name, scope.node)
