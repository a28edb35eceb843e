"""Keeps containers short that lines of the program add to: their first items and the newest.

A call is placed around whatever adds, so that code that reads what was added last, or first, goes
on as before.
"""

import ast
import weakref
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

    def __init__(
        self,
        places: Sequence[str],
        may_grow: Callable[[], bool],
        failed: Callable[[str], None],
    ) -> None:
        """As long as they `may_grow` they do; `failed` is told of lines where nothing can be done.

        A program may need some items before it can go on.
        """
        self._places = frozenset(places)
        self._may_grow = may_grow
        self._failed = failed
        self._first_sizes: dict[Hashable, int] = {}
        self._memos: list[weakref.ref[Any]] = []

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
        return [Tick(self.after), Tick(self.shorten), Tick(self.remember)]

    def remember(self, function: Any) -> None:
        """One that keeps its results: `functools.cache` and its like."""
        if hasattr(function, "cache_clear"):
            self._memos.append(weakref.ref(function))
        else:
            self._failed(f"what {getattr(function, '__name__', 'it')} keeps cannot be emptied")

    def forget_results(self) -> None:
        """In every round; a function that is gone has nothing to forget."""
        for memo in self._memos if not self._may_grow() else ():
            function = memo()
            if function is not None:
                function.cache_clear()

    def after(self, result: Any, *containers: Any) -> Any:
        """The result of a call that has added to containers, which are shortened now."""
        for container in containers:
            self.shorten(container)
        return result

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
        if self._may_grow():
            self._first_sizes[key] = size
            return container
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
    """Finds what adds at some lines: calls wherever they stand, and assignments."""

    def __init__(self, lines: set[int], index: int) -> None:
        self._lines = lines
        self._index = index
        self.found: set[int] = set()

    def visit_Call(self, node: ast.Call) -> ast.expr:
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
        self.generic_visit(node)
        match node.targets:
            case [ast.Subscript(container)]:
                containers = _with_outer(container)
                if containers and self._is_meant(node):
                    behind = ast.Expr(_call(self._index, ast.Constant(None), *containers))
                    return [node, ast.copy_location(behind, node)]
            case [ast.Name() | ast.Attribute() as target] if _reads(node.value, target):
                return self._assigned(node, target)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt | list[ast.stmt]:
        self.generic_visit(node)
        target = node.target
        return node if isinstance(target, ast.Subscript) else self._assigned(node, target)

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
    match call:
        case ast.Call(ast.Attribute(container, method)) if method in _ADDING_METHODS:
            return _with_outer(container)
        case ast.Call(ast.Name(name) | ast.Attribute(attr=name), [container, *_]) if (
            name in _ADDING_FUNCTIONS
        ):
            return _with_outer(container)
    return []


def _reads(expression: ast.expr, target: ast.expr) -> bool:
    """Whether the new value is made of the old one."""
    wanted = ast.dump(_reading(target))
    return any(ast.dump(node) == wanted for node in ast.walk(expression))


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


def _reading(expression: ast.expr) -> ast.expr:
    match expression:
        case ast.Name(name):
            return ast.Name(name, ast.Load())
        case ast.Attribute(value, name):
            return ast.Attribute(value, name, ast.Load())
    return expression
