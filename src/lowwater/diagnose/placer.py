"""Places calls at the lines of a program that add to a container."""

import ast

from lowwater.agent.census.adding import CONTAINER_METHODS, adds_to, mentions, with_outer
from lowwater.agent.instrumentation._inject import call_of


class Placer(ast.NodeTransformer):
    """Finds what adds at some lines: calls wherever they stand, and assignments.

    Three calls are placed, by their numbers from `index` on: around a call that adds, with its
    result and the containers; for a value that was made anew, with its line; and for a function
    that keeps its results.
    """

    def __init__(self, lines: set[int], index: int) -> None:
        """`found` are those of the lines at which something was placed."""
        self._lines = lines
        self._index = index
        self.found: set[int] = set()

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """`kept.append(…)`, also inside of another statement."""
        self.generic_visit(node)
        containers = _added_to(node)
        if not (containers and self._is_meant(node)):
            return node
        return ast.copy_location(_call(self._index, node, *containers), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt | list[ast.stmt]:
        """A function that keeps its results is known by its decorators, and named behind it."""
        self.generic_visit(node)
        top = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        here = self._lines & {*range(top, node.body[0].lineno)}
        if not (here and node.decorator_list):
            return node
        self.found |= here
        behind = ast.Expr(_call(self._index + 2, ast.Name(node.name, ast.Load())))
        return [node, ast.copy_location(behind, node)]

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        """`kept[key] = …`, and `kept = kept + …`."""
        self.generic_visit(node)
        match node.targets:
            case [ast.Subscript(container)]:
                return self._with_item(node, container)
            case [ast.Name() | ast.Attribute() as target] if mentions(node.value, _reading(target)):
                return self._assigned(node, target)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt | list[ast.stmt]:
        """`kept += …`, and `kept[key] += …`."""
        self.generic_visit(node)
        if isinstance(node.target, ast.Subscript):
            return self._with_item(node, node.target.value)
        return self._assigned(node, node.target)

    def _with_item(
        self, node: ast.Assign | ast.AugAssign, container: ast.expr
    ) -> ast.stmt | list[ast.stmt]:
        containers = _shortened(container)
        if not (containers and self._is_meant(node)):
            return node
        behind = ast.Expr(_call(self._index, ast.Constant(None), *containers))
        return [node, ast.copy_location(behind, node)]

    def _assigned(
        self, node: ast.Assign | ast.AugAssign, target: ast.Name | ast.Attribute
    ) -> ast.stmt | list[ast.stmt]:
        """`x = f(x)` behind `x = x + …`: it is another object each time."""
        if not (_is_pure(target) and self._is_meant(node)):
            return node
        call = _call(self._index + 1, _reading(target), ast.Constant(node.lineno))
        return [node, ast.copy_location(ast.Assign([target], call), node)]

    def _is_meant(self, node: ast.Call | ast.stmt) -> bool:
        here = self._lines & {*range(node.lineno, (node.end_lineno or node.lineno) + 1)}
        self.found |= here
        return bool(here)


def _call(index: int, *arguments: ast.expr) -> ast.Call:
    call = call_of(index).value
    assert isinstance(call, ast.Call)
    call.args += arguments
    return call


def _added_to(call: ast.Call) -> list[ast.expr]:
    """What a call adds to: the innermost container first, then the one around it."""
    container = adds_to(call, CONTAINER_METHODS)
    return _shortened(container) if container is not None else []


def _shortened(container: ast.expr) -> list[ast.expr]:
    """The container and those around it, as far as they can be evaluated once more."""
    return [one for one in with_outer(container) if _is_pure(one)]


def _is_pure(expression: ast.expr) -> bool:
    """Whether it can be evaluated once more without doing anything."""
    match expression:
        case ast.Name() | ast.Constant():
            return True
        case ast.Attribute(value):
            return _is_pure(value)
        case ast.Subscript(value, index):
            return _is_pure(value) and _is_pure(index)
    return False


def _reading(expression: ast.expr) -> ast.expr:
    match expression:
        case ast.Name(name):
            return ast.Name(name, ast.Load())
        case ast.Attribute(value, name):
            return ast.Attribute(value, name, ast.Load())
    return expression
