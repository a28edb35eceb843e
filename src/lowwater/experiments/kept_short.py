"""Keeps containers short that lines of the program add to: their first items and the newest.

A call is placed behind each statement that adds, so that code that reads what was added last, or
first, goes on as before.
"""

import ast
from collections import deque
from collections.abc import (
    Callable,
    Hashable,
    MutableMapping,
    MutableSequence,
    MutableSet,
    Sequence,
)
from typing import Any

from lowwater.instrumentation._inject import call_of
from lowwater.instrumentation._tick import Tick

# ruff: noqa: ANN401 - containers of the program

# So many items more than at first are left in a container.
_MORE = 4
_ADDING_METHODS = frozenset(
    "add append appendleft extend extendleft insert setdefault update".split()
)
# Functions that add to their first argument.
_ADDING_FUNCTIONS = frozenset("heappush insort insort_left insort_right".split())
# What gives back an item of a container, made at need.
_REACHING_METHODS = frozenset({"get", "setdefault"})


class KeptShort:
    """Rewrites the statements at some lines of the program, as reports call them."""

    def __init__(self, places: Sequence[str], failed: Callable[[str], None]) -> None:
        """`failed` is told of lines at which nothing can be kept short."""
        self._places = frozenset(places)
        self._failed = failed
        self._first_sizes: dict[Hashable, int] = {}

    def rewrite(
        self, shown: str, tree: ast.Module, first_index: int
    ) -> list[Callable[..., object]]:
        """Place the calls into a file; what they call is given back."""
        lines = {
            int(line)
            for file, _, line in (place.rpartition(":") for place in self._places)
            if file == shown
        }
        placer = _Placer(lines, first_index)
        placer.visit(tree)
        for line in sorted(lines - placer.found):
            self._failed(f"{shown}:{line} adds to nothing that can be kept short")
        return [Tick(self.shorten)] if placer.found else []

    def shorten(self, container: Any, line: int | None = None) -> Any:
        """The container, or a shorter one where it cannot be changed itself.

        What is made anew at a `line` each time is known by that, anything else by its address.
        """
        try:
            size = len(container)
        except TypeError:
            self._failed(f"a {type(container).__name__} cannot be kept short")
            return container
        key = (id(container), None) if line is None else (type(container), line)
        # A smaller one is another that has got the address.
        self._first_sizes[key] = first = min(self._first_sizes.get(key, size), size)
        return container if size <= first + _MORE else _shortened(container, first + _MORE)


def _shortened(container: Any, most: int) -> Any:
    match container:
        case deque():
            while len(container) > most:
                del container[most - 1]
        case MutableSequence():
            del container[most - 1 : -1]
        case MutableMapping():
            for key in [*container][most - 1 : -1]:
                del container[key]
        case MutableSet():
            for item in [*container][most:]:
                container.discard(item)
        case _:
            return container[:most]
    return container


class _Placer(ast.NodeTransformer):
    """Finds the statements that add at some lines."""

    def __init__(self, lines: set[int], index: int) -> None:
        self._lines = lines
        self._index = index
        self.found: set[int] = set()

    def visit(self, node: ast.AST) -> Any:
        if not isinstance(node, ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign):
            return self.generic_visit(node)
        here = self._lines & {*range(node.lineno, (node.end_lineno or node.lineno) + 1)}
        behind = [self._statement(one) for one in _containers(node)] if here else []
        if not behind:
            return node
        self.found |= here
        return [node, *(ast.copy_location(one, node) for one in behind)]

    def _statement(self, container: ast.expr) -> ast.stmt:
        """`f(container)`, or `container = f(container)` where it has a name of its own."""
        call = call_of(self._index).value
        assert isinstance(call, ast.Call)
        call.args.append(_reading(container))
        if isinstance(container, ast.Name | ast.Attribute) and _is_stored(container):
            call.args.append(ast.Constant(container.lineno))
            return ast.Assign([container], call)
        return ast.Expr(call)


def _containers(statement: ast.stmt) -> list[ast.expr]:
    """What a statement adds to: the innermost container first, then the one around it."""
    match statement:
        case ast.Expr(ast.Call(ast.Attribute(container, method))) if method in _ADDING_METHODS:
            return _with_outer(container)
        case ast.Expr(ast.Call(ast.Name(name) | ast.Attribute(attr=name), [container, *_])) if (
            name in _ADDING_FUNCTIONS
        ):
            return _with_outer(container)
        case ast.Assign([ast.Subscript(container)]):
            return _with_outer(container)
        case ast.AugAssign(ast.Name() | ast.Attribute() as target):
            return [target]
        case ast.Assign([ast.Name() | ast.Attribute() as target]) if _is_pure(target):
            return [target]
    return []


def _with_outer(container: ast.expr) -> list[ast.expr]:
    """`a[k]` and `a`: ever new keys may be what grows, or the items of one."""
    match container:
        case ast.Subscript(outer):
            return [*([container] if _is_pure(container) else []), *_with_outer(outer)]
        case ast.Call(ast.Attribute(outer, method)) if method in _REACHING_METHODS:
            return _with_outer(outer)
    return [container] if _is_pure(container) else []


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


def _is_stored(target: ast.Name | ast.Attribute) -> bool:
    return isinstance(target.ctx, ast.Store)


def _reading(expression: ast.expr) -> ast.expr:
    match expression:
        case ast.Name(name):
            return ast.Name(name, ast.Load())
        case ast.Attribute(value, name):
            return ast.Attribute(value, name, ast.Load())
    return expression
