"""Where a container is kept, as its expression says: `self.name`, or a name of a scope."""

import ast
from dataclasses import dataclass
from typing import Final

from lowwater.check.lookup import binder, scope_of
from lowwater.check.scopes import SourceScope

_MOST_STEPS: Final = 6


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where a container is kept: `self.name`, or a name of a scope."""

    name: str
    scope: SourceScope
    is_attribute: bool
    # Of an object that was there before the round, as far as it is known already.
    is_object: bool = False


def root_of(container: ast.expr) -> ast.expr:
    """`self.log["a"]` and `self.log.setdefault(k, [])` are parts of `self.log`."""
    for _ in range(_MOST_STEPS):
        if isinstance(container, ast.Subscript):
            container = container.value
        elif (
            isinstance(container, ast.Call)
            and isinstance(container.func, ast.Attribute)
            and container.func.attr in ("setdefault", "get")
        ):
            container = container.func.value
        else:
            break
    return container


def place_of(container: ast.expr) -> Place | None:
    """Where a container is kept, as far as its expression says."""
    root = root_of(container)
    if isinstance(root, ast.Name):
        holder = binder(root.id, scope_of(root))
        return (
            None
            if holder is None or holder.is_class
            else Place(root.id, holder, is_attribute=False)
        )
    if isinstance(root, ast.Attribute) and isinstance(root.value, ast.Name):
        cls = class_of_self(root.value)
        return None if cls is None else Place(root.attr, cls, is_attribute=True)
    return None


def class_of_self(name: ast.Name) -> SourceScope | None:
    """The class whose object a name is, if it is the first parameter of a method."""
    scope: SourceScope | None = scope_of(name)
    while scope is not None:
        outer = scope.outer
        if scope.is_function and outer is not None and outer.is_class:
            parameters = scope.parameters
            return outer if parameters and parameters[0].arg == name.id else None
        scope = outer
    return None


def is_at(node: ast.expr, place: Place) -> bool:
    """Whether an expression means this container, or a part of it."""
    found = place_of(node)
    return (
        found is not None
        and found.name == place.name
        and found.scope is place.scope
        and found.is_attribute is place.is_attribute
    )
