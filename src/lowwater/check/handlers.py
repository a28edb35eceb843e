"""What an `except` handles."""

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lowwater.check.scopes import How, around

if TYPE_CHECKING:
    from lowwater.check.source import Source


def tried_before(source: "Source", handled: ast.AST) -> Iterator[ast.Call]:
    """The calls of the `try`, here and in what it calls, whose `except` a node is in."""
    tried = next((one for one in around(handled) if isinstance(one, ast.Try)), None)
    for statement in [] if tried is None else tried.body:
        yield from source.reached(statement)


def keeps_exceptions(source: "Source") -> bool:
    """Whether some `except` gives its exception a name."""
    return any(
        one.how is How.EXCEPTION
        for scope in source.scopes
        for bound in scope.binds.values()
        for one in bound
    )
