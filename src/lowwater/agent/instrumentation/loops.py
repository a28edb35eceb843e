"""Ticks for the loops of the user's own files, added when a file is loaded."""

import ast
import os
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Protocol

from lowwater.agent.instrumentation._inject import call_of, compiled, fill_in, guarded
from lowwater.agent.instrumentation._tick import Passes, Tick, tick_for
from lowwater.agent.syntax import Function, last_name

_Loop = ast.For | ast.While | ast.AsyncFor

# An outer loop and the one inside it; deeper ones are too hot to be a round trip.
DEEPEST = 2
# A loop inside a loop that makes a call or two is a hot one: 30 ns a pass would be felt.
_FEWEST_CALLS = (1, 3)
# What these functions compute is read from their code by a compiler, or runs inside one.
_COMPILING_DECORATORS = frozenset(
    "cfunc compile function guvectorize jit kernel njit script stencil vectorize".split()
)
_COMPUTING_METHODS = frozenset(
    "build call compute_loss forward predict_step test_step train_step".split()
)
# What is placed for each loop, in this order.
_TICK, _LOOK, _END, _BEGIN, _IS_OVER = _FOR_EACH = range(5)


class Limited(Protocol):
    """Tells a loop when it is to be left."""

    def begin(self) -> None:
        """The loop is entered."""

    def is_over(self) -> bool:
        """Whether it is to be left, at the start of a round."""


# For a file and the first and last line of a loop.
LimitOf = Callable[[str, int, int], Limited]
# Changes a tree, and gives what is to be placed into it, from this number on.
Rewrite = Callable[[ast.Module, int], Sequence[Callable[..., object]]]


def code_with_ticks(
    source: bytes,
    filename: str,
    passes_at: Callable[[int], Passes],
    limit_of: LimitOf | None = None,
    rewrite: Rewrite | None = None,
) -> CodeType:
    """Compile a file with ticks in its loops; all lines and columns stay as they are.

    For an experiment: with `limit_of` loops can be left early, as it does not need all their
    rounds, and `rewrite` changes the program further.
    """
    tree = ast.parse(source, filename)
    marker = _marker_for(tree, can_be_left=limit_of is not None)
    marked = marker.visit(tree)
    also_placed = rewrite(marked, len(_FOR_EACH) * len(marker.lines)) if rewrite is not None else []
    code = compiled(ast.fix_missing_locations(marked), filename)
    placed: list[Callable[..., object]] = []
    for line, last_line in zip(marker.lines, marker.last_lines, strict=True):
        passes = passes_at(line)
        limit = limit_of(filename, line, last_line) if limit_of is not None else None
        # As ticks: a function of the program may be pickled to another process.
        ends = [Tick(limit.begin), Tick(limit.is_over)] if limit is not None else [bool, bool]
        placed += [tick_for(passes), Tick(passes.look), Tick(passes.after_last), *ends]
    return fill_in(code, [*placed, *also_placed])


def shown_path(filename: str, folder: str, root: str) -> str:
    """How a file is called in a report: relative to the script's folder, else to the project."""
    real = os.path.realpath(filename)
    is_beside = real.startswith(os.path.join(folder, ""))
    return os.path.relpath(real, folder if is_beside else root)


class _LoopMarker(ast.NodeTransformer):
    """Puts a call at the start of each iteration, and one behind the loop."""

    def __init__(
        self, *, only_top_level: bool, left_alone: frozenset[str], can_be_left: bool
    ) -> None:
        self._can_be_left = can_be_left
        self.lines: list[int] = []
        self.last_lines: list[int] = []
        self._depth = 0
        self._only_top_level = only_top_level
        self._left_alone = left_alone

    def visit_For(self, node: ast.For) -> list[ast.stmt] | ast.stmt:
        return self._visit_loop(node)

    def visit_While(self, node: ast.While) -> list[ast.stmt] | ast.stmt:
        return self._visit_loop(node)

    def visit_AsyncFor(self, node: ast.AsyncFor) -> list[ast.stmt] | ast.stmt:
        return self._visit_loop(node)

    def visit_FunctionDef(self, node: Function) -> ast.stmt:
        if self._only_top_level or node.name in self._left_alone or _must_be_left_alone(node):
            return node
        depth, self._depth = self._depth, 0
        self.generic_visit(node)
        self._depth = depth
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        return self.visit_FunctionDef(node)

    def _visit_loop(self, node: _Loop) -> list[ast.stmt] | ast.stmt:
        if self._depth >= DEEPEST or _calls_in(node) < _FEWEST_CALLS[self._depth]:
            return node
        index = len(_FOR_EACH) * len(self.lines)
        self.lines.append(node.lineno)
        self.last_lines.append(node.end_lineno or node.lineno)
        self._depth += 1
        self.generic_visit(node)
        self._depth -= 1
        looked_at = [call_of(index + _TICK).value, call_of(index + _LOOK).value]
        node.body.insert(0, ast.copy_location(guarded(ast.BoolOp(ast.And(), looked_at)), node))
        behind = ast.copy_location(guarded(call_of(index + _END).value), node)
        # What stands in `else` is for loops that end by themselves.
        if not self._can_be_left or node.orelse:
            return [node, behind]
        leave = ast.If(call_of(index + _IS_OVER).value, [ast.Break()], [])
        node.body.insert(0, ast.copy_location(leave, node))
        return [ast.copy_location(call_of(index + _BEGIN), node), node, behind]


def _marker_for(tree: ast.Module, *, can_be_left: bool) -> _LoopMarker:
    return _LoopMarker(
        only_top_level=_imports_numba(tree),
        left_alone=_saved_with_models(tree),
        can_be_left=can_be_left,
    )


def _saved_with_models(tree: ast.Module) -> frozenset[str]:
    """Functions given to a `Lambda` layer: a model is saved with their marshalled code."""
    layers = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and last_name(node.func) == "Lambda"
    )
    given = (part for layer in layers for part in [*layer.args, *(k.value for k in layer.keywords)])
    return frozenset(last_name(part) for part in given) - {""}


def _calls_in(loop: _Loop) -> int:
    return sum(isinstance(node, ast.Call) for part in loop.body for node in ast.walk(part))


def _must_be_left_alone(function: Function) -> bool:
    name = function.name
    is_dunder = name.startswith("__") and name.endswith("__")
    return (
        is_dunder
        or name in _COMPUTING_METHODS
        or any(last_name(decorator) in _COMPILING_DECORATORS for decorator in _dotted(function))
        or _is_generator(function)
    )


def _dotted(function: Function) -> list[ast.expr]:
    return [
        decorator.func if isinstance(decorator, ast.Call) else decorator
        for decorator in function.decorator_list
    ]


def _is_generator(function: Function) -> bool:
    """Whether its loops run at somebody else's pace; inner functions do not count."""
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, Function | ast.Lambda | ast.ClassDef):
            pending += ast.iter_child_nodes(node)
    return False


def _imports_numba(tree: ast.Module) -> bool:
    """Numba compiles whatever it is given from its bytecode, where a tick is in the way."""
    names = (
        alias.name if isinstance(node, ast.Import) else node.module or ""
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    )
    return any(name.split(".")[0] == "numba" for name in names)
