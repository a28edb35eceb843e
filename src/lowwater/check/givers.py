"""What feeds a training: generators, and the data sets that are written in Python."""

import ast
from typing import TYPE_CHECKING, Final

from lowwater.check.lookup import scope_of
from lowwater.check.scopes import COMPREHENSIONS, SourceScope
from lowwater.check.things import ValueKind

if TYPE_CHECKING:
    from lowwater.check.source import Source
    from lowwater.check.source_growth import SourceGrowth

# The methods of a data set that are called for every batch.
GIVING: Final = frozenset({"__getitem__", "__next__"})


def giver_of(source: "Source", growth: "SourceGrowth") -> SourceScope | None:
    """The generator or data set that adds here each time that it hands something out."""
    scope: SourceScope | None = scope_of(growth.node)
    while scope is not None and isinstance(scope.node, COMPREHENSIONS):
        scope = scope.outer
    if scope is None or not scope.is_function:
        return None
    if scope.yields:
        return scope if _yields_in_round(scope, growth) else None
    is_its_round = growth.round.node is scope.node or source.round_of(scope) is growth.round
    return scope if is_its_round and is_data_set(source, scope.outer) else None


def is_data_set(source: "Source", cls: SourceScope | None) -> bool:
    """Whether a class of the project is a data set written in Python."""
    if cls is None or not cls.is_class:
        return False
    return source.names.instance(cls).kind is ValueKind.DATASET


def _yields_in_round(generator: SourceScope, growth: "SourceGrowth") -> bool:
    """Whether it hands something out between one addition and the next."""
    if growth.round.through:
        return True
    return any(growth.round.holds(one) for one in generator.yields)


def is_handed_out(source: "Source", scope: SourceScope, value: ast.expr) -> bool:
    """Whether a value, of a kind that is not known, is part of what a generator or data set gives.

    What is made of it, such as its mean, shares its name as well, but is known to be a number.
    """
    giver: SourceScope | None = scope
    while giver is not None and isinstance(giver.node, COMPREHENSIONS):
        giver = giver.outer
    if giver is None or source.kinds(value) - {ValueKind.CONTAINER}:
        return False
    if giver.yields:
        given = [one.value for one in giver.yields if isinstance(one, ast.Yield)]
    elif giver.name in GIVING and is_data_set(source, giver.outer):
        given = [*giver.returns]
    else:
        return False
    return isinstance(value, ast.Name | ast.Tuple) and bool(_names(value) & _plain(given))


def _names(value: ast.expr) -> frozenset[str]:
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    return frozenset(one.id for one in parts if isinstance(one, ast.Name))


def _plain(given: list[ast.expr | None]) -> frozenset[str]:
    """The names that are handed out as they are: `yield x, y`."""
    return frozenset(name for one in given if one is not None for name in _names(one))
