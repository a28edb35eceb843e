"""What an expression stands for, for each kind of expression."""

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from lowwater.check.attributes import attribute
from lowwater.check.called import called
from lowwater.check.lookup import own_scope, scope_of
from lowwater.check.things import UNKNOWN, Thing, Things, ValueKind

if TYPE_CHECKING:
    from lowwater.check.names import Resolver

_NUMBERS: Final = (int, float, complex, bool)


def _constant(_: "Resolver", node: ast.Constant) -> Things:
    if isinstance(node.value, _NUMBERS):
        return (Thing(ValueKind.NUMBER),)
    return (Thing(ValueKind.TEXT),) if isinstance(node.value, str | bytes) else UNKNOWN


def _name(names: "Resolver", node: ast.Name) -> Iterable[Thing]:
    scope = scope_of(node)
    return names.named(node.id, scope)


def _attribute(names: "Resolver", node: ast.Attribute) -> Iterable[Thing]:
    for owner in names.things(node.value):
        yield from attribute(names, owner, node.attr)


def _call(names: "Resolver", node: ast.Call) -> Iterator[Thing]:
    for thing in names.things(node.func):
        yield from called(names, thing, node)


def _operation(names: "Resolver", node: ast.BinOp) -> Iterable[Thing]:
    left, right = names.things(node.left), names.things(node.right)
    kinds = {thing.kind for thing in (*left, *right)}
    for kind in (ValueKind.SYMBOLIC, ValueKind.TENSOR, ValueKind.VARIABLE, ValueKind.ARRAY):
        if kind in kinds:
            result = ValueKind.TENSOR if kind is ValueKind.VARIABLE else kind
            name = next(one.name for one in (*left, *right) if one.kind is kind)
            return (Thing(result, name),)
    if left and right and kinds <= {ValueKind.NUMBER}:
        return (Thing(ValueKind.NUMBER),)
    if ValueKind.TEXT in kinds:
        return (Thing(ValueKind.TEXT),)
    # A number with something unknown: often a number, and never said to be one.
    return (Thing(ValueKind.CONTAINER),) if ValueKind.CONTAINER in kinds else UNKNOWN


def _unary(names: "Resolver", node: ast.UnaryOp) -> Things:
    return (
        (Thing(ValueKind.NUMBER),) if isinstance(node.op, ast.Not) else names.things(node.operand)
    )


def _either(names: "Resolver", node: ast.IfExp) -> Things:
    return (*names.things(node.body), *names.things(node.orelse))


def _bool(names: "Resolver", node: ast.BoolOp) -> Iterator[Thing]:
    for value in node.values:
        yield from names.things(value)


def _compare(names: "Resolver", node: ast.Compare) -> Iterator[Thing]:
    operands = [thing for one in (node.left, *node.comparators) for thing in names.things(one)]
    heavy = [thing for thing in operands if thing.kind in (ValueKind.ARRAY, ValueKind.TENSOR)]
    yield heavy[0] if heavy else Thing(ValueKind.NUMBER)


def _collection(names: "Resolver", node: ast.List | ast.Set | ast.Tuple) -> Iterator[Thing]:
    yield Thing(ValueKind.CONTAINER, type(node).__name__.lower())
    for value in node.elts:
        yield from _held(names, value)


def _mapping(names: "Resolver", node: ast.Dict) -> Iterator[Thing]:
    yield Thing(ValueKind.CONTAINER, "dict")
    for value in node.values:
        yield from _held(names, value)


def _held(names: "Resolver", value: ast.expr) -> Iterator[Thing]:
    """What a display passes on of its items: those whose memory counts."""
    for thing in names.things(value):
        if thing.kind in (ValueKind.ARRAY, ValueKind.ARRAYS, ValueKind.TENSOR):
            yield Thing(ValueKind.ARRAYS, thing.name)
        elif thing.kind in (
            ValueKind.MODEL,
            ValueKind.HISTORY,
            ValueKind.TAPE,
            ValueKind.EXCEPTION,
        ):
            yield thing


def _comprehended(names: "Resolver", node: Any) -> Iterator[Thing]:  # noqa: ANN401 - any comprehension
    yield Thing(ValueKind.CONTAINER, "comprehension")
    yield from _held(names, node.value if isinstance(node, ast.DictComp) else node.elt)


def _item_of(names: "Resolver", node: ast.Subscript) -> Iterator[Thing]:
    for thing in names.things(node.value):
        if thing.kind is ValueKind.ARRAYS:
            is_part = isinstance(node.slice, ast.Slice)
            yield Thing(ValueKind.ARRAYS if is_part else ValueKind.ARRAY, thing.name)
        elif thing.kind in (ValueKind.ARRAY, ValueKind.TENSOR, ValueKind.SYMBOLIC):
            yield thing
        elif thing.kind is ValueKind.CONTAINER and isinstance(node.slice, ast.Slice):
            yield Thing(ValueKind.BOUNDED)


def _lambda(_: "Resolver", node: ast.Lambda) -> Iterator[Thing]:
    scope = own_scope(node)
    if scope is not None:
        yield Thing(ValueKind.FUNCTION, "lambda", scope)


def _walrus(names: "Resolver", node: ast.NamedExpr) -> Things:
    return names.things(node.value)


def _awaited(names: "Resolver", node: ast.Await | ast.Starred) -> Things:
    return names.things(node.value)


def _text(_: "Resolver", __: ast.expr) -> Things:
    return (Thing(ValueKind.TEXT),)


READERS: Final[dict[type, Any]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.BinOp: _operation,
    ast.UnaryOp: _unary,
    ast.IfExp: _either,
    ast.BoolOp: _bool,
    ast.Compare: _compare,
    ast.List: _collection,
    ast.Tuple: _collection,
    ast.Set: _collection,
    ast.Dict: _mapping,
    ast.ListComp: _comprehended,
    ast.SetComp: _comprehended,
    ast.GeneratorExp: _comprehended,
    ast.DictComp: _comprehended,
    ast.Subscript: _item_of,
    ast.Lambda: _lambda,
    ast.NamedExpr: _walrus,
    ast.Await: _awaited,
    ast.Starred: _awaited,
    ast.JoinedStr: _text,
}
