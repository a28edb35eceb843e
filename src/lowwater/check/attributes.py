"""What `owner.name` stands for: of a module, a class, an object or something of a library."""

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from lowwater.check import library
from lowwater.check.bindings import MOST_BINDINGS, decorated, of_binding
from lowwater.check.imports import of_library
from lowwater.check.lookup import stores_of_self
from lowwater.check.scopes import Binding, How, SourceScope
from lowwater.check.things import Thing, ValueKind

if TYPE_CHECKING:
    from lowwater.check.names import Resolver


def attribute(names: "Resolver", owner: Thing, name: str) -> Iterable[Thing]:
    """What `owner.name` stands for."""
    if owner.kind is ValueKind.MODULE:
        if owner.scope is not None:
            return names.in_module(owner.scope.file, name)
        return (of_library(f"{owner.name}.{name}"),)
    if owner.scope is not None and owner.scope.is_class:
        return of_field(names, owner, name)
    if owner.kind in (ValueKind.CLASS, ValueKind.FUNCTION) and owner.name:
        return (of_library(f"{owner.name}.{name}"),)
    kind = library.attribute_of(owner.kind, name)
    if kind is not None:
        return (Thing(kind, f"{owner.name}.{name}"),)
    return (Thing(ValueKind.METHOD, f"{owner.name}.{name}", of=owner),)


def of_field(names: "Resolver", owner: Thing, name: str) -> Iterator[Thing]:
    """What an attribute stands for that the class of an object gives it."""
    assert owner.scope is not None
    bindings = names.field_bindings(owner.scope, name)
    is_found = False
    for binding in bindings[-MOST_BINDINGS:]:
        node = binding.node
        if binding.how is How.DEFINED and isinstance(node, ast.FunctionDef):
            is_found = True
            yield from _bound(names, owner, node)
        else:
            found = of_binding(names, binding, owner.scope)
            is_found = is_found or bool(found)
            yield from found
    if not is_found and owner.kind is not ValueKind.INSTANCE:
        kind = library.attribute_of(owner.kind, name)
        what = f"{owner.name}.{name}"
        yield Thing(kind, what) if kind else Thing(ValueKind.METHOD, what, of=owner)


def _bound(names: "Resolver", owner: Thing, node: ast.FunctionDef) -> Iterator[Thing]:
    for scope in _scopes_of(names, owner):
        method = scope.method(node.name)
        if method is not None and method.node is node:
            if _is_property(node):
                for value in method.returns:
                    yield from names.things(value)
                return
            yield from decorated(names, node, Thing(ValueKind.METHOD, node.name, method, owner))
            return


def _scopes_of(names: "Resolver", owner: Thing) -> list[SourceScope]:
    return [] if owner.scope is None else [owner.scope, *names.project_bases(owner.scope)]


def own_fields(cls: SourceScope, name: str) -> Iterator[Binding]:
    """The places in a class that give `self.name` a value."""
    yield from cls.binds.get(name, ())
    for store in stores_of_self(cls):
        if isinstance(store.target, ast.Attribute) and store.target.attr == name:
            yield store.binding


def _is_property(node: ast.FunctionDef) -> bool:
    return any(
        (isinstance(one, ast.Name) and one.id in ("property", "cached_property"))
        or (isinstance(one, ast.Attribute) and one.attr == "cached_property")
        for one in node.decorator_list
    )
