"""What is in a value: the items that a loop takes from it, the parts that it is unpacked into."""

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from lowwater.check.things import UNKNOWN, Thing, Things, ValueKind, unique

if TYPE_CHECKING:
    from lowwater.check.names import Resolver

# What the name of the thing that a generator function gives begins with.
GENERATOR: Final = "generator "


def item(names: "Resolver", value: ast.expr | None, path: tuple[int, ...]) -> Things:
    """One item of an iterated value, or what is in it at a path."""
    if isinstance(value, ast.Tuple | ast.List | ast.Set):
        return unique(thing for one in value.elts for thing in part(names, one, path))
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        name, given = value.func.id, value.args
        if name == "range":
            return (Thing(ValueKind.NUMBER, "range"),)
        if name == "enumerate" and given and path:
            return item(names, given[0], path[1:]) if path[0] else (Thing(ValueKind.NUMBER, name),)
        if name == "zip" and path:
            return item(names, given[path[0]], path[1:]) if path[0] < len(given) else UNKNOWN
        if name in ("sorted", "reversed", "list", "tuple", "tqdm") and given:
            return item(names, given[0], path)
    found = unique(_items_of(names, names.things(value)))
    return unique(_items_of(names, found)) if path else found


def part(names: "Resolver", value: ast.expr | None, path: tuple[int, ...]) -> Things:
    """What is at a path of an unpacked value."""
    while path and isinstance(value, ast.Tuple | ast.List) and path[0] < len(value.elts):
        value, path = value.elts[path[0]], path[1:]
    returned = names.one_deeper(_returned(names, value, path)) if path else UNKNOWN
    things = names.things(value)
    for _ in path:
        things = unique(_items_of(names, things))
    return unique((*returned, *things))


def _returned(names: "Resolver", value: ast.expr | None, path: tuple[int, ...]) -> Iterator[Thing]:
    """What is at a path of the tuples that a function of the project returns."""
    for function in names.things(value.func) if isinstance(value, ast.Call) else ():
        if function.scope is not None and function.scope.is_function:
            for returned in function.scope.returns:
                if isinstance(returned, ast.Tuple):
                    yield from part(names, returned, path)


def _items_of(names: "Resolver", things: Things) -> Iterator[Thing]:
    for thing in things:
        if thing.kind in (ValueKind.ARRAY, ValueKind.ARRAYS):
            yield Thing(ValueKind.ARRAY, thing.name)
        elif thing.kind is ValueKind.TENSOR:
            yield thing
        elif thing.kind is ValueKind.DATASET and thing.scope is None:
            yield Thing(ValueKind.TENSOR, thing.name)
        elif thing.scope is not None and thing.name.startswith(GENERATOR):
            for given in thing.scope.yields:
                if isinstance(given, ast.Yield):
                    yield from names.things(given.value)
