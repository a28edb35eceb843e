"""What a name is bound to: a value, an item or a part of one, a parameter, a definition."""

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from lowwater.check import library
from lowwater.check.imports import imported
from lowwater.check.items import item, part
from lowwater.check.lookup import own_scope
from lowwater.check.scopes import Binding, How, SourceScope
from lowwater.check.things import UNKNOWN, Thing, Things, ValueKind, unique

if TYPE_CHECKING:
    from lowwater.check.names import Resolver

# How many bindings of one name are read.
MOST_BINDINGS: Final = 12


def of_bindings(names: "Resolver", bindings: Iterable[Binding], scope: SourceScope) -> Things:
    """All that a name may stand for that was bound in these places."""
    return unique(thing for one in bindings for thing in of_binding(names, one, scope))


def of_binding(names: "Resolver", binding: Binding, scope: SourceScope) -> Things:
    """What a name stands for that was bound here."""
    how = binding.how
    if how in (How.VALUE, How.AUGMENTED, How.ENTERED):
        return names.things(binding.value)
    if how is How.ITEM:
        return item(names, binding.value, binding.path)
    if how is How.PART:
        return part(names, binding.value, binding.path)
    if how is How.EXCEPTION:
        return (Thing(ValueKind.EXCEPTION),)
    if how is How.IMPORT:
        return imported(names, binding, scope)
    is_defined = how is How.DEFINED
    return _defined(names, binding) if is_defined else _parameter(names, binding, scope)


def _defined(names: "Resolver", binding: Binding) -> Things:
    node = binding.node
    inner = own_scope(node)
    if inner is None:
        return UNKNOWN
    if isinstance(node, ast.ClassDef):
        return (Thing(ValueKind.CLASS, node.name, inner),)
    return tuple(decorated(names, node, Thing(ValueKind.FUNCTION, node.name, inner)))


def decorated(names: "Resolver", node: Any, thing: Thing) -> Iterator[Thing]:  # noqa: ANN401 - a function
    """A function or method, or what its decorators make of it."""
    for decorator in node.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        for made in names.things(call.func if call else decorator):
            if library.made_by(made.name) is ValueKind.TRACED and made.scope is None:
                yield Thing(ValueKind.TRACED, node.name, thing.scope, made)
                return
    yield thing


def _parameter(names: "Resolver", binding: Binding, scope: SourceScope) -> Things:
    """`self` is known; of the rest, only what a default value tells."""
    node = binding.node
    if not scope.is_function:
        return UNKNOWN
    cls = scope.outer
    parameters = scope.parameters
    if cls is not None and cls.is_class and parameters and parameters[0] is node:
        assert isinstance(scope.node, ast.FunctionDef | ast.AsyncFunctionDef)
        decorators = {getattr(one, "id", "") for one in scope.node.decorator_list}
        if "classmethod" in decorators:
            return (Thing(ValueKind.CLASS, cls.name, cls),)
        return UNKNOWN if "staticmethod" in decorators else (names.instance(cls),)
    return names.given(binding.node, scope)
