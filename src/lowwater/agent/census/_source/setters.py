"""Lines that give an object attributes, or a module variables, whose names are made up on the way.

`setattr(self, f"epoch_{n}", x)`, `self.__dict__[name] = x`, `vars(run)[name] = x`,
`globals()[f"model_{n}"] = x`.
"""

import ast
from collections.abc import Iterator
from typing import NamedTuple


class Setter(NamedTuple):
    """One such statement, and the class it is written in; `of_module` for the module's own."""

    node: ast.expr | ast.stmt
    owner: str | None
    of_module: bool


def setters(tree: ast.AST, owner: str | None = None) -> Iterator[Setter]:
    """All such lines in their order."""
    for node in ast.iter_child_nodes(tree):
        namespace = _namespace(node)
        if namespace is not None and isinstance(node, ast.expr | ast.stmt):
            yield Setter(node, owner, _is_call_of(namespace, "globals"))
        yield from setters(node, node.name if isinstance(node, ast.ClassDef) else owner)


def _namespace(node: ast.AST) -> ast.expr | None:
    """What is given a name that is no constant."""
    match node:
        case ast.Call(func=ast.Name("setattr"), args=[target, name, _]):
            return None if isinstance(name, ast.Constant) else target
        case ast.Assign(targets=[ast.Subscript(value=space, slice=name)]) if _is_space(space):
            return None if isinstance(name, ast.Constant) else space
    return None


def _is_space(expression: ast.expr) -> bool:
    match expression:
        case ast.Attribute(attr="__dict__"):
            return True
    return _is_call_of(expression, "vars") or _is_call_of(expression, "globals")


def _is_call_of(expression: ast.expr, name: str) -> bool:
    return isinstance(expression, ast.Call) and getattr(expression.func, "id", None) == name
