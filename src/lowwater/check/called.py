"""What a call gives: an object, what a function returns, what a library makes."""

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from lowwater.check import library
from lowwater.check.attributes import of_field
from lowwater.check.items import GENERATOR
from lowwater.check.things import UNKNOWN, Thing, Things, ValueKind

if TYPE_CHECKING:
    from lowwater.check.names import Resolver

_PASS_ON: Final = ("builtins.abs", "copy.copy", "copy.deepcopy")
_WRAPPERS: Final = ("tensorflow.function", "jax.jit", "functools.partial", "tensorflow.v1.function")


def called(names: "Resolver", thing: Thing, node: ast.Call) -> Iterable[Thing]:
    """What a call of a thing gives."""
    if thing.scope is not None:
        return _called_here(names, thing, node)
    if thing.kind is ValueKind.METHOD:
        return _called_method(thing, node)
    if thing.kind in (ValueKind.FUNCTION, ValueKind.CLASS, ValueKind.MODULE):
        return _called_library(names, thing, node)
    return _called_object(names, thing, node)


def _called_here(names: "Resolver", thing: Thing, node: ast.Call) -> Iterable[Thing]:
    scope = thing.scope
    assert scope is not None
    if scope.is_class:
        if thing.kind is ValueKind.CLASS:
            return (names.instance(scope),)
        return _called_instance(names, thing, node)
    if scope.yields:
        return (Thing(ValueKind.OTHER, f"{GENERATOR}{scope.name}", scope),)
    found = [one for value in scope.returns for one in names.things(value)]
    if thing.kind is ValueKind.TRACED:
        return found or (Thing(ValueKind.TENSOR, thing.name),)
    return found


def _called_instance(names: "Resolver", thing: Thing, node: ast.Call) -> Iterable[Thing]:
    assert thing.scope is not None
    if thing.kind in (ValueKind.MODEL, ValueKind.LAYER):
        return _called_object(names, Thing(thing.kind, thing.name), node)
    own = next(iter(of_field(names, thing, "__call__")), None)
    return _called_here(names, own, node) if own is not None and own.scope is not None else ()


def _called_object(names: "Resolver", thing: Thing, node: ast.Call) -> Things:
    if thing.kind in (ValueKind.MODEL, ValueKind.LAYER):
        given = names.kinds(node.args[0]) if node.args else frozenset()
        if ValueKind.SYMBOLIC in given:
            return (Thing(ValueKind.SYMBOLIC, thing.name),)
        if thing.kind is ValueKind.MODEL:
            return (Thing(ValueKind.TENSOR, thing.name),)
        return (Thing(ValueKind.TENSOR, thing.name),) if ValueKind.TENSOR in given else UNKNOWN
    return UNKNOWN


def _called_method(thing: Thing, node: ast.Call) -> Things:
    assert thing.of is not None
    method = thing.last_name
    if method in ("get", "pop") and thing.of.kind is ValueKind.CONTAINER:
        return UNKNOWN
    if library.draws(thing.of.name, method):
        return (Thing(ValueKind.ARRAY, thing.name),) if _has_size(node, method) else UNKNOWN
    if library.flows(thing.of.name, method):
        return (Thing(ValueKind.DATASET, thing.name),)
    kind = library.by_method(thing.of.kind, method, has_axis=_has_axis(node, method))
    return UNKNOWN if kind is None else (Thing(kind, thing.name),)


def _called_library(names: "Resolver", thing: Thing, node: ast.Call) -> Things:
    name = thing.name
    if name in _WRAPPERS and node.args:
        return _wrapped(names, name, node.args[0])
    if name in _PASS_ON and node.args:
        return names.things(node.args[0])
    if library.is_reduction(name):
        return (Thing(ValueKind.ARRAY if _has_axis(node, "") else ValueKind.NUMBER, name),)
    if name in ("builtins.list", "builtins.tuple", "builtins.dict") and node.args:
        return (Thing(ValueKind.CONTAINER, name), *_heavy(names, node.args[0]))
    kind = library.made_by(name)
    if kind is ValueKind.CONTAINER and _is_bounded(node, thing.last_name):
        kind = ValueKind.BOUNDED
    return UNKNOWN if kind is None else (Thing(kind, name),)


def _wrapped(names: "Resolver", name: str, node: ast.expr) -> Things:
    """What `tf.function(f)` or `partial(f, …)` gives."""
    inside = names.things(node)
    if name == "functools.partial":
        return inside
    wrapper = Thing(ValueKind.FUNCTION, name)
    known = tuple(Thing(ValueKind.TRACED, one.last_name, one.scope, wrapper) for one in inside)
    return known or (Thing(ValueKind.TRACED, name, of=wrapper),)


def _heavy(names: "Resolver", node: ast.expr) -> Iterator[Thing]:
    for thing in names.things(node):
        if thing.kind in (ValueKind.ARRAY, ValueKind.ARRAYS, ValueKind.TENSOR):
            yield Thing(ValueKind.ARRAYS, thing.name)


def _has_axis(node: ast.Call, method: str) -> bool:
    """Whether a reduction leaves an array: it is given an axis."""
    first = 0 if method else 1
    is_given = any(one.arg in ("axis", "dim") and not _is_none(one.value) for one in node.keywords)
    return is_given or len(node.args) > first


def _has_size(node: ast.Call, method: str) -> bool:
    """Whether more than one number is drawn: `rng.normal(size=n)`, `rng.random((3, 4))`."""
    is_given = any(
        one.arg in ("size", "shape") and not _is_none(one.value) for one in node.keywords
    )
    # The only thing that these are given is how many.
    is_given = is_given or (method in ("random", "standard_normal") and bool(node.args))
    return is_given or any(isinstance(one, ast.Tuple | ast.List) for one in node.args)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_bounded(node: ast.Call, last: str) -> bool:
    if last != "deque":
        return False
    is_given = any(one.arg == "maxlen" and not _is_none(one.value) for one in node.keywords)
    return is_given or len(node.args) > 1
