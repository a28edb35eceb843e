"""Places calls into code without adding a frame: tracebacks stay as they were.

A wrapper around `fit` would show in every traceback, and would miss those who imported the
function earlier. So the function keeps its identity and gets a code object with one more
statement, compiled from its own source with its own line numbers.
"""

import ast
import copy
import linecache
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Literal, NamedTuple

from lowwater.agent.instrumentation._tick import Tick
from lowwater.model.interruption import must_be_raised

Where = Literal["start", "end"]
# Stands for `must_be_raised` until the code is compiled.
_GUARD = "\0lowwater:guard"


class CannotInject(Exception):
    """The function has no source, or not the shape that is expected."""


def call_of(index: int, *arguments: str) -> ast.Expr:
    """A statement that calls the `index`-th placed callable; see `fill_in`."""
    names: list[ast.expr] = [ast.Name(name, ast.Load()) for name in arguments]
    return ast.Expr(ast.Call(ast.Constant(_placeholder(index)), names, []))


def guarded(expression: ast.expr) -> ast.Try:
    """A statement whose failure never reaches the program; entering a `try` costs nothing.

    What the program's own signal handlers raise meanwhile does, as if raised in this very line.
    """
    asks = ast.Call(ast.Constant(_GUARD), [], [])
    handler = ast.ExceptHandler(None, None, [ast.If(asks, [ast.Raise()], [])])
    return ast.Try([ast.Expr(expression)], [handler], [], [])


def compiled(tree: ast.Module, filename: str) -> CodeType:
    """Compile a tree that holds placeholders."""
    with warnings.catch_warnings():
        # "'str' object is not callable": a placeholder is one until it is filled in.
        warnings.simplefilter("ignore", SyntaxWarning)
        code: CodeType = compile(tree, filename, "exec", dont_inherit=True)
    return code


def fill_in(code: CodeType, callables: Sequence[Callable[..., object]]) -> CodeType:
    """Put the callables in place of their placeholders, as constants: no name is looked up."""
    by_name: dict[str, Callable[..., object]] = {_GUARD: _guard}
    by_name |= {_placeholder(index): placed for index, placed in enumerate(callables)}

    def filled(constant: object) -> object:
        if isinstance(constant, CodeType):
            return fill_in(constant, callables)
        return by_name.get(constant, constant) if isinstance(constant, str) else constant

    return code.replace(co_consts=tuple(filled(constant) for constant in code.co_consts))


# As a tick: it travels with the functions that it stands in.
_guard = Tick(must_be_raised)


class _Insertion(NamedTuple):
    """A statement to be placed; `statement_of` is given the number of its placeholder."""

    statement_of: Callable[[int], ast.stmt]
    placed: Callable[..., object]
    at: Where


class _Placed(NamedTuple):
    """A function's own code, and all that is placed into it at present."""

    original: CodeType
    insertions: list[_Insertion]


# Several parts may place something into the same function: each time it is compiled with all.
_placed: weakref.WeakKeyDictionary[FunctionType, _Placed] = weakref.WeakKeyDictionary()


@contextmanager
def injected(
    function: FunctionType,
    placed: Callable[..., object],
    at: Where,
    *arguments: str,
) -> Iterator[None]:
    """Run with a call of `placed(*arguments)` at the start or the end of the function."""
    with _inserted(function, _Insertion(_guarded_call(arguments), placed, at)):
        yield


@contextmanager
def rebound(
    function: FunctionType, argument: str, changed: Callable[..., object], *others: str
) -> Iterator[None]:
    """Run with `argument = changed(argument, *others)` at the start of the function."""

    def rebinding(index: int) -> ast.Assign:
        return ast.Assign(
            [ast.Name(argument, ast.Store())], call_of(index, argument, *others).value
        )

    with _inserted(function, _Insertion(rebinding, changed, "start")):
        yield


@contextmanager
def _inserted(function: FunctionType, insertion: _Insertion) -> Iterator[None]:
    state = _placed.setdefault(function, _Placed(function.__code__, []))
    function.__code__ = _code_with(state.original, [*state.insertions, insertion])
    state.insertions.append(insertion)
    try:
        yield
    finally:
        state.insertions.remove(insertion)
        if state.insertions:
            function.__code__ = _code_with(state.original, state.insertions)
        else:
            function.__code__ = state.original
            _placed.pop(function, None)


def _guarded_call(arguments: Sequence[str]) -> Callable[[int], ast.stmt]:
    return lambda index: guarded(call_of(index, *arguments).value)


def _code_with(code: CodeType, insertions: Sequence[_Insertion]) -> CodeType:
    module = _module_around(code)
    function = _find_function(module, code.co_name)
    for index, insertion in enumerate(insertions):
        statement = insertion.statement_of(index)
        if insertion.at == "start":
            # Behind the docstring, which has to stay the first statement.
            position = 1 if ast.get_docstring(function, clean=False) is not None else 0
            function.body.insert(position, _located(statement, function.body[position]))
        else:
            function.body = _BeforeReturns(statement).body_of(function)
    filled = fill_in(compiled(module, code.co_filename), [one.placed for one in insertions])
    new = _find_code(filled, code.co_name)
    if (
        new.co_freevars != code.co_freevars
        or new.co_varnames[: new.co_argcount] != (code.co_varnames[: code.co_argcount])
    ):
        msg = f"{code.co_qualname} does not match its source"
        raise CannotInject(msg)
    return new.replace(co_qualname=code.co_qualname)


class _BeforeReturns(ast.NodeTransformer):
    """Adds a call before every `return` of one function, and behind its last statement."""

    def __init__(self, call: ast.stmt) -> None:
        self._call = call

    def body_of(self, function: ast.FunctionDef) -> list[ast.stmt]:
        self.generic_visit(function)
        return [*function.body, _located(self._call, function.body[-1])]

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        return [_located(self._call, node), node]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node  # its returns are not ours

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node


def _placeholder(index: int) -> str:
    return f"\0lowwater:{index}"


def _located(call: ast.stmt, neighbour: ast.stmt) -> ast.stmt:
    fresh = copy.deepcopy(call)
    for node in ast.walk(fresh):
        ast.copy_location(node, neighbour)
    return fresh


def _module_around(code: CodeType) -> ast.Module:
    """Parse just this function, at its own lines and columns."""
    first = code.co_firstlineno
    lines = linecache.getlines(code.co_filename)[first - 1 : _last_line(code)]
    if not lines:
        msg = f"{code.co_qualname} has no source"
        raise CannotInject(msg)
    is_indented = lines[0][:1].isspace()
    source = "".join(lines)
    # A method is parsed inside a class, so that `super()` finds its cell.
    tree = ast.parse(f"class _:\n{source}" if is_indented else source)
    return ast.increment_lineno(tree, first - (2 if is_indented else 1))


def _last_line(code: CodeType) -> int:
    """Where the code ends, closing brackets included; `inspect` takes ten times as long."""
    ends = [end for _, end, _, _ in code.co_positions() if end is not None]
    inner = [_last_line(part) for part in code.co_consts if isinstance(part, CodeType)]
    return max(ends + inner, default=code.co_firstlineno)


def _find_function(module: ast.Module, name: str) -> ast.FunctionDef:
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    msg = f"the source of {name} holds no such function"
    raise CannotInject(msg)


def _find_code(code: CodeType, name: str) -> CodeType:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_name == name:
                return constant
            try:
                return _find_code(constant, name)
            except CannotInject:
                continue
    msg = f"{name} was lost in compiling"
    raise CannotInject(msg)
