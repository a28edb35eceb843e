"""The words and expressions by which Python programs make a container larger.

A census asks which line adds; an experiment keeps the container of such a line short.
"""

import ast

from lowwater.agent.census._source.scopes import Chain, chain_of
from lowwater.agent.syntax import last_name

# Of Python's own containers, whose items can be taken out again.
CONTAINER_METHODS = frozenset(
    "__iadd__ __ior__ __setitem__ add append appendleft extend extendleft insert setdefault "
    "update".split()
)
# With those of queues, files and caches.
ADDING_METHODS = CONTAINER_METHODS | frozenset(
    "enqueue push put put_nowait set write writelines".split()
)
# These add to their first argument.
ADDING_FUNCTIONS = frozenset(
    "heappush iadd iconcat insort insort_left insort_right ior setitem".split()
)
# `list.append(memory, x)`: the method of the type, with the container as first argument.
_TYPES = frozenset("Counter OrderedDict bytearray defaultdict deque dict list set".split())
# What gives back an item of a container, made at need.
_REACHING_METHODS = frozenset({"get", "setdefault"})
_JOINING = frozenset(
    "append cat chain column_stack concat concatenate dstack hstack insert join merge row_stack "
    "stack union vstack".split()
)


def adds_to(call: ast.Call, methods: frozenset[str] = ADDING_METHODS) -> ast.expr | None:
    """The container that a call makes larger, by one of these methods or a function."""
    match call:
        case ast.Call(func=ast.Attribute(value=kind, attr=name), args=[first, *_]) if (
            name in methods and _is_type(kind)
        ):
            return first
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[first, *_]) if (
            name in ADDING_FUNCTIONS
        ):
            return first
    return receiver_of_adding(call.func, methods)


def _is_type(expression: ast.expr) -> bool:
    match expression:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="collections"), attr=name):
            return name in _TYPES
    return False


def receiver_of_adding(
    expression: ast.expr, methods: frozenset[str] = ADDING_METHODS
) -> ast.expr | None:
    """The container whose method this is: `seen` of `seen.append`, called or handed on."""
    match expression:
        case ast.Attribute(value=receiver, attr=name) if name in methods:
            return receiver
    return None


def with_outer(container: ast.expr) -> list[ast.expr]:
    """`a[k]` and `a`: new keys may be what grows, or the items of one."""
    match container:
        case ast.Subscript(outer):
            return [container, *with_outer(outer)]
        case ast.Call(ast.Attribute(outer, method)) if method in _REACHING_METHODS:
            return with_outer(outer)
    return [container]


def mentions(value: ast.expr, container: ast.expr) -> bool:
    """Whether a new value is made of the old in any way: `x = f(x)`; both are being read."""
    wanted = ast.dump(container)
    return any(ast.dump(part) == wanted for part in ast.walk(value))


def builds_on(value: ast.expr, chain: Chain) -> bool:
    """Whether a new value consists of the old and more: `[*x, y]`, `x + y`, `concat([x, y])`."""
    match value:
        case ast.IfExp(body=first, orelse=second):
            return builds_on(first, chain) or builds_on(second, chain)
        case ast.Call(func=function, args=[first, *_]) if last_name(function) not in _JOINING:
            return builds_on(first, chain)
        case ast.Call(func=ast.Attribute(value=receiver), args=[_, *_]) if _is_from(
            receiver, chain
        ):
            return True
    parts = _joined(value)
    is_counting = isinstance(value, ast.BinOp) and any(is_number(part) for part in parts)
    return len(parts) > 1 and not is_counting and any(_is_from(part, chain) for part in parts)


def _is_from(part: ast.expr, chain: Chain) -> bool:
    return chain.is_same_object(chain_of(part)) or builds_on(part, chain)


def _joined(value: ast.expr) -> list[ast.expr]:
    """The parts that a value is put together from."""
    match value:
        case ast.BinOp(op=ast.Add() | ast.BitOr()):
            return _terms(value)
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return [part.value if isinstance(part, ast.Starred) else part for part in items]
        case ast.Dict(keys=keys, values=values) if None in keys:
            return values
        case ast.JoinedStr(values=values):
            return [part.value if isinstance(part, ast.FormattedValue) else part for part in values]
        case ast.Call(args=arguments):
            return [part for given in arguments for part in _joined(given) or [given]]
    return []


def _terms(value: ast.expr) -> list[ast.expr]:
    """The terms of a sum, in a loop: generated programs add up hundreds."""
    terms = []
    while isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add | ast.BitOr):
        terms.append(value.right)
        value = value.left
    return [*terms, value]


def looks_itself_up(value: ast.expr, container: ast.expr, key: ast.expr) -> bool:
    """Whether `d[key] = value` counts: its value is made from the old `d[key]`."""
    wanted = ast.dump(container), ast.dump(key)
    return any(tuple(map(ast.dump, _lookup(part))) == wanted for part in ast.walk(value))


def _lookup(part: ast.AST) -> tuple[ast.expr, ...]:
    match part:
        case ast.Subscript(value=container, slice=key):
            return container, key
        case ast.Call(func=ast.Attribute(value=container, attr="get"), args=[key, *_]):
            return container, key
    return ()


def is_number(value: ast.expr) -> bool:
    """Whether this is a plain number: a sum with it is a counter, not a container."""
    match value:
        case ast.Constant(value=number):
            return isinstance(number, int | float | complex)
        case ast.UnaryOp(operand=operand):
            return is_number(operand)
    return False


def is_fresh(value: ast.expr) -> bool:
    """Whether this is a constant or an empty container: an assignment that makes nothing larger."""
    match value:
        case ast.Constant() | ast.UnaryOp():
            return True
        case ast.List(elts=[]) | ast.Tuple(elts=[]) | ast.Dict(keys=[]):
            return True
        case ast.Call(func=ast.Name(id=kind) | ast.Attribute(attr=kind), args=arguments):
            takes_none = not arguments or kind in {"deque", "defaultdict"}
            return takes_none and kind in _TYPES | {"tuple", "str", "bytes"}
    return False


def grows_by_item(index: ast.expr) -> bool:
    """Whether `x[index] = …` can add again and again: not for a constant or a fixed range."""
    match index:
        case ast.Slice(lower=ast.Call(func=ast.Name(id="len")), upper=None):
            return True
        case ast.Slice() | ast.Constant() | ast.UnaryOp(operand=ast.Constant()):
            return False
    return True
