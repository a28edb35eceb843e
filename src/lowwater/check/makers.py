"""Which calls make a thing of a kind, themselves or through helpers."""

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from lowwater.check.rounds import loops_around
from lowwater.check.scopes import SourceScope
from lowwater.check.things import Thing, ValueKind

if TYPE_CHECKING:
    from lowwater.check.source import Source

_MOST_HOPS: Final = 3


def makes(source: "Source", call: ast.Call, kind: ValueKind | str) -> bool:
    """Whether a call gives a new thing of this kind, itself or through helpers."""
    for thing in source.things(call.func):
        if thing.kind is ValueKind.METHOD and thing.scope is None:
            continue
        for made in source.names.called(thing, call):
            if made.kind == kind and _is_new(source, thing, kind, _MOST_HOPS):
                return True
    return False


def _is_new(source: "Source", thing: Thing, kind: ValueKind | str, hops: int) -> bool:
    """Whether what a function gives is made in it: a getter gives what there is already."""
    if thing.scope is None or thing.scope.is_class:
        return thing.kind in (ValueKind.FUNCTION, ValueKind.CLASS)
    return hops > 0 and any(True for _ in source.made_inside(thing.scope, kind, hops - 1))


def made_inside(
    source: "Source", scope: SourceScope, kind: ValueKind | str, hops: int = _MOST_HOPS
) -> Iterator[ast.Call]:
    """The calls in a function of the project, and in what it calls, that make such a thing."""
    for inner in scope.inside():
        for call in inner.calls:
            yield from _made_by(source, call, kind, hops)


def _made_by(
    source: "Source", call: ast.Call, kind: ValueKind | str, hops: int
) -> Iterator[ast.Call]:
    for thing in source.things(call.func):
        if thing.scope is None:
            made = source.names.called(thing, call)
            if thing.kind is not ValueKind.METHOD and any(one.kind == kind for one in made):
                yield call
        elif thing.scope.is_class and thing.kind is ValueKind.CLASS:
            if source.names.instance(thing.scope).kind == kind:
                yield call
            start = thing.scope.method("__init__")
            if start is not None and hops:
                yield from source.made_inside(start, kind, hops - 1)
        elif thing.scope.is_function and hops:
            yield from source.made_inside(thing.scope, kind, hops - 1)


def made_in_loops(source: "Source", kind: ValueKind | str) -> Iterator[tuple[ast.Call, ast.AST]]:
    """Calls in a loop that make such a thing, themselves or through helpers, and the loop."""
    for call in source.calls:
        loops = loops_around(call)
        if loops and any(True for _ in _made_by(source, call, kind, _MOST_HOPS)):
            yield call, loops[0]


def is_made_here(source: "Source", node: ast.expr, kind: ValueKind | str) -> bool:
    """Whether an expression is itself a call that makes such a thing."""
    return isinstance(node, ast.Call) and source.makes(node, kind)


def calls_that_make(source: "Source", cls: SourceScope) -> Iterator[ast.Call]:
    """The calls in the file that make an object of a class of it."""
    for call in source.calls_of(cls.name):
        if any(
            one.scope is cls and one.kind is ValueKind.CLASS for one in source.things(call.func)
        ):
            yield call
