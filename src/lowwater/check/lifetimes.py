"""How long things live, seen from a round: made in it, or older than it."""

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from lowwater.check.lookup import argument, binder, scope_of
from lowwater.check.places import class_of_self
from lowwater.check.rounds import Round
from lowwater.check.scopes import Binding, How, SourceScope, around
from lowwater.check.things import HEAVY, ValueKind

if TYPE_CHECKING:
    from lowwater.check.source import Source

_MOST_STEPS: Final = 6
_GRAPH_STEPS: Final = (
    "map", "filter", "flat_map", "interleave", "scan", "while_loop", "cond", "map_fn",
)  # fmt: skip
_HELD: Final = HEAVY | {ValueKind.VARIABLE}


def calls_behind(
    source: "Source", value: ast.expr | None, repeated: Round, steps: int = _MOST_STEPS
) -> Iterator[ast.Call]:
    """The calls of one round whose result a value may be: names of the round are followed."""
    if value is None or not steps:
        return
    if isinstance(value, ast.Call):
        yield value
        return
    if isinstance(value, ast.Tuple | ast.List | ast.Dict):
        for one in value.values if isinstance(value, ast.Dict) else value.elts:
            yield from calls_behind(source, one, repeated, steps - 1)
        return
    for how, binding, scope, name in _bindings(source, value):
        if how is How.PARAMETER:
            given, outer = given_in(repeated, scope, name)
            yield from calls_behind(source, given, outer, steps - 1)
        elif how in (How.VALUE, How.PART) and repeated.holds(binding.node):
            yield from calls_behind(source, binding.value, repeated, steps - 1)


class Bound(NamedTuple):
    """One place that gives an expression its value, and the scope whose name that is."""

    how: How
    binding: Binding
    scope: SourceScope
    name: str


def _bindings(source: "Source", value: ast.expr) -> Iterator[Bound]:
    """What gives a name, or an attribute of `self`, its value."""
    if isinstance(value, ast.Name):
        holder = binder(value.id, scope_of(value))
        for one in [] if holder is None else holder.binds[value.id]:
            assert holder is not None
            yield Bound(one.how, one, holder, value.id)
    elif isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        cls = class_of_self(value.value)
        for one in [] if cls is None else source.names.field_bindings(cls, value.attr):
            assert cls is not None
            yield Bound(one.how, one, cls, value.attr)


def given_in(repeated: Round, function: SourceScope, name: str) -> tuple[ast.expr | None, Round]:
    """What a round gives for a parameter of a function that is called in it."""
    for number, passage in enumerate(repeated.through):
        if passage.function is function:
            outer = Round(repeated.name, repeated.node, repeated.through[:number])
            return argument(passage.call, function, name), outer
    return None, repeated


def is_passed(repeated: Round, function: SourceScope) -> bool:
    """Whether a function is called in the round."""
    return any(one.function is function for one in repeated.through)


def is_new(
    source: "Source", value: ast.expr | None, repeated: Round, kind: ValueKind | str
) -> bool:
    """Whether each round makes another thing of this kind for a value."""
    return any(source.makes(call, kind) for call in calls_behind(source, value, repeated))


def is_older(source: "Source", value: ast.expr, repeated: Round, steps: int = _MOST_STEPS) -> bool:
    """Whether what a value stands for is certainly there before the round, the same each time."""
    if not steps or not isinstance(value, ast.Name | ast.Attribute):
        return False
    bound = list(_bindings(source, value))
    if isinstance(value, ast.Name):
        return bool(bound) and all(_was_before(source, one, repeated, steps) for one in bound)
    if isinstance(value.value, ast.Name) and class_of_self(value.value) is not None:
        is_stored = any(_is_set_in(one.binding, repeated) for one in bound)
        return not is_stored and is_self_older(source, repeated, steps)
    return is_older(source, value.value, repeated, steps - 1)


def _was_before(source: "Source", bound: Bound, repeated: Round, steps: int) -> bool:
    """Whether a name has its value from before the round."""
    how, binding, scope, name = bound
    if how is How.PARAMETER:
        if scope.node is not repeated.node and not is_passed(repeated, scope):
            # The round is a loop in this very function.
            return True
        given, outer = given_in(repeated, scope, name)
        return given is not None and is_older(source, given, outer, steps - 1)
    if how is How.ITEM and binding.node is repeated.node:
        return False
    if how is How.IMPORT or not repeated.holds(_node(binding)):
        return True
    return binding.value is not None and is_older(source, binding.value, repeated, steps - 1)


def is_self_older(source: "Source", repeated: Round, steps: int = _MOST_STEPS) -> bool:
    """Whether the objects whose methods are called in the round are older than it."""
    for number, passage in enumerate(repeated.through):
        func = passage.call.func
        outer = Round(repeated.name, repeated.node, repeated.through[:number])
        if isinstance(func, ast.Attribute):
            is_self = isinstance(func.value, ast.Name) and class_of_self(func.value) is not None
            if not is_self and not is_older(source, func.value, outer, steps - 1):
                return False
        elif passage.function.outer is not None and passage.function.outer.is_class:
            return False
    return True


def _is_set_in(binding: Binding, repeated: Round) -> bool:
    """Whether an attribute gets its value in the round; in `__init__` its object is made."""
    node = _node(binding)
    method = next((one for one in around(node) if isinstance(one, ast.FunctionDef)), None)
    is_start = method is not None and method.name == "__init__"
    return not is_start and repeated.holds(node)


def _node(binding: Binding) -> ast.AST:
    """An import is kept with its alias."""
    found = binding.node[0] if isinstance(binding.node, tuple) else binding.node
    assert isinstance(found, ast.AST)
    return found


def is_one_sample(source: "Source", value: ast.expr | None, steps: int = _MOST_STEPS) -> bool:
    """Whether a batch has one sample, as its source says: `x[None]`, `x[i : i + 1]`."""
    if value is None or not steps:
        return False
    if isinstance(value, ast.Name):
        # A parameter that gets another value is used with that: `state = state[None]`.
        bound = [one for one in _bindings(source, value) if one.how is not How.PARAMETER]
        values = [one.binding.value for one in bound if one.how is How.VALUE]
        return len(values) == len(bound) > 0 and all(
            is_one_sample(source, one, steps - 1) for one in values
        )
    if isinstance(value, ast.List):
        # `[x]` alone is a list of inputs, with as many samples as `x` has.
        return len(value.elts) == 1 and isinstance(value.elts[0], ast.Constant | ast.List)
    if isinstance(value, ast.Subscript):
        return _takes_one(value.slice)
    return isinstance(value, ast.Call) and _makes_one(source, value, steps - 1)


def _takes_one(index: ast.expr) -> bool:
    """`[None]`, `[np.newaxis, :]`, `[i : i + 1]`."""
    first = index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index
    if isinstance(first, ast.Constant):
        return first.value is None
    if isinstance(first, ast.Attribute):
        return first.attr == "newaxis"
    if not isinstance(first, ast.Slice):
        return False
    lower = ast.unparse(first.lower) if first.lower else "0"
    upper = ast.unparse(first.upper) if first.upper else ""
    return upper == f"{lower} + 1" or (lower, upper) == ("0", "1")


def _makes_one(source: "Source", call: ast.Call, steps: int) -> bool:
    """`np.expand_dims(x, 0)`, `x.reshape(1, -1)`, `np.array([x])`."""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    given = call.args
    package = next((one.name.partition(".")[0] for one in source.things(call.func)), "")
    is_of_library = (
        package not in ("", "builtins") and not source.kinds(source.receiver(call)) & _HELD
    )
    if name == "expand_dims":
        axis = next((one.value for one in call.keywords if one.arg == "axis"), None)
        axis = axis if axis is not None else (given[1] if len(given) > 1 else None)
        return isinstance(axis, ast.Constant) and axis.value == 0
    if name == "reshape":
        shape = given[1:] if is_of_library else given
        first = shape[0] if shape else None
        if isinstance(first, ast.Tuple | ast.List) and first.elts:
            first = first.elts[0]
        return isinstance(first, ast.Constant) and first.value == 1
    if name in ("zeros", "ones", "rand", "randn") and given:
        first = given[0].elts[0] if isinstance(given[0], ast.Tuple) and given[0].elts else given[0]
        return isinstance(first, ast.Constant) and first.value == 1
    if name in ("array", "asarray", "constant", "convert_to_tensor", "astype", "float32"):
        inside = source.receiver(call) if name == "astype" else (given[0] if given else None)
        if isinstance(inside, ast.List):
            return len(inside.elts) == 1 and not isinstance(inside.elts[0], ast.Starred)
        return is_one_sample(source, inside, steps)
    return False


def is_in_graph(source: "Source", scope: SourceScope | None, hops: int = _MOST_STEPS) -> bool:
    """Whether a function may be traced: by itself, by a caller, or as a step of a pipeline."""
    while scope is not None and not scope.is_function and scope.outer is not None:
        if isinstance(scope.node, ast.Lambda) and scope in _mapped(source):
            return True
        scope = scope.outer
    if scope is None or not scope.is_function or not hops:
        return False
    if source.is_traced(scope) or scope in _mapped(source):
        return True
    callers = source.names.calls_of_function(scope)
    return any(is_in_graph(source, scope_of(one), hops - 1) for one in callers)


def _mapped(source: "Source") -> Iterator[SourceScope]:
    """The functions that are steps of a pipeline, or of a loop in a graph."""
    for call in source.calls_of(*_GRAPH_STEPS):
        for given in call.args:
            for thing in source.things(given):
                if thing.scope is not None and not thing.scope.is_class:
                    yield thing.scope


def is_entered(value: ast.expr) -> bool:
    """Whether a `with` block ends a value: `with … as value`."""
    holder = binder(value.id, scope_of(value)) if isinstance(value, ast.Name) else None
    bound = [] if holder is None else holder.binds[getattr(value, "id", "")]
    return any(one.how is How.ENTERED for one in bound)
