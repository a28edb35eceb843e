"""What the decorators of a function say of it."""

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lowwater.check.lookup import last_name
from lowwater.check.scopes import SourceScope

if TYPE_CHECKING:
    from lowwater.check.source import Source


def decorated_by(source: "Source", *names: str) -> Iterator[tuple[ast.expr, SourceScope]]:
    """The decorators of the file that are one of these, with the function or class."""
    last_names = {one.rpartition(".")[2] for one in names}
    for scope in source.scopes:
        for one in getattr(scope.node, "decorator_list", ()):
            func = one.func if isinstance(one, ast.Call) else one
            if last_name(func) in last_names and any(
                thing.name in names for thing in source.things(func)
            ):
                yield one, scope


def is_method(function: SourceScope) -> bool:
    """Whether a function gets the object it belongs to."""
    cls = function.outer
    static = {"staticmethod", "classmethod"}
    names = {last_name(one) for one in getattr(function.node, "decorator_list", ())}
    return cls is not None and cls.is_class and function.is_function and not names & static


def is_unbounded_memo(decorator: ast.expr) -> bool:
    """Whether `cache` or `lru_cache(maxsize=None)`: without a size, it is 128."""
    if not isinstance(decorator, ast.Call):
        return last_name(decorator) == "cache"
    given = [*decorator.args[:1], *(k.value for k in decorator.keywords if k.arg == "maxsize")]
    return any(isinstance(one, ast.Constant) and one.value is None for one in given)
