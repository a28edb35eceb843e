"""Where a name belongs: the scope that it is read in, the one that binds it, a call's argument."""

import ast
from collections.abc import Iterator
from typing import Any

from lowwater.check.scopes import COMPREHENSIONS, SourceScope, Store, around


def scope_of(node: ast.AST) -> SourceScope:
    """The scope that a node of a file is evaluated in."""
    inner: ast.AST = node
    for outer in around(node):
        scope: SourceScope | None = getattr(outer, "scope", None)
        if scope is not None and not _is_outside(inner, outer):
            return scope
        inner = outer
    msg = f"{node!r} is in no file"
    raise LookupError(msg)


def _is_outside(child: ast.AST, owner: Any) -> bool:  # noqa: ANN401 - the node of a scope
    """Decorators, bases and defaults are evaluated around the scope that they stand at."""
    if isinstance(owner, ast.ClassDef):
        return child in owner.decorator_list or child in owner.bases or child in owner.keywords
    if isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef):
        given = owner.args
        return (
            child in owner.decorator_list or child in given.defaults or child in given.kw_defaults
        )
    return isinstance(owner, ast.Lambda) and child is not owner.body


def binder(name: str, scope: SourceScope) -> SourceScope | None:
    """The scope whose name this is; None where no scope of the file binds it."""
    first, here = True, scope
    while True:
        if name in here.binds and name not in here.foreign and (first or not here.is_class):
            return here
        if here.outer is None:
            return None
        first = first and isinstance(here.node, COMPREHENSIONS)
        here = here.outer


def own_scope(node: ast.AST) -> SourceScope | None:
    """The scope of a class, function or lambda."""
    found: SourceScope | None = getattr(node, "scope", None)
    return found


def argument(call: ast.Call, function: SourceScope, name: str) -> ast.expr | None:
    """What a call gives for a parameter; None where it gives nothing, or by `*`."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    names = [one.arg for one in function.parameters]
    if name not in names:
        return None
    outer = function.outer
    is_method = outer is not None and outer.is_class and not _is_static(function)
    at = names.index(name) - (1 if is_method else 0)
    has_star = any(isinstance(one, ast.Starred) for one in call.args[: at + 1])
    return None if has_star or not 0 <= at < len(call.args) else call.args[at]


def _is_static(function: SourceScope) -> bool:
    decorators = getattr(function.node, "decorator_list", ())
    return any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in decorators)


def stores_of_self(cls: SourceScope) -> Iterator[Store]:
    """All `self.name = …` in the methods of a class."""
    for method in cls.children:
        own = self_name(method)
        if own is None:
            continue
        for scope in method.inside():
            for store in scope.stores:
                base = store.target.value
                if isinstance(base, ast.Name) and base.id == own:
                    yield store


def self_name(method: SourceScope) -> str | None:
    """The name of the first parameter of a method."""
    if not method.is_function or not method.parameters:
        return None
    return method.parameters[0].arg


def last_name(node: ast.expr) -> str:
    """`model.fit` -> `fit`, `build` -> `build`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def receiver(call: ast.Call) -> ast.expr:
    """`model` of `model.fit(…)`; of a plain call, the function itself."""
    return call.func.value if isinstance(call.func, ast.Attribute) else call.func


def attribute_owner(node: ast.expr, *names: str) -> ast.expr | None:
    """`model` of `model.output`, if it is an attribute of one of these names."""
    return node.value if isinstance(node, ast.Attribute) and node.attr in names else None
