"""How long things live, seen from a round: made in it, or older than it."""

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from lowwater.check.growths import class_of_self
from lowwater.check.names import argument, binder, scope_of
from lowwater.check.rounds import Round
from lowwater.check.scopes import Binding, How, SourceScope, around
from lowwater.check.things import ValueKind

if TYPE_CHECKING:
    from lowwater.check.source import Source

_MOST_STEPS: Final = 6
_TRAINING: Final = frozenset({"fit", "train_on_batch", "fit_generator"})
_STEPS: Final = frozenset({"apply_gradients", "backward", "minimize"})


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
    for binding, scope in _bindings(source, value):
        if binding.how is How.PARAMETER and isinstance(value, ast.Name):
            given, outer = given_in(repeated, scope, value.id)
            yield from calls_behind(source, given, outer, steps - 1)
        elif binding.how in (How.VALUE, How.PART) and repeated.holds(binding.node):
            yield from calls_behind(source, binding.value, repeated, steps - 1)


def _bindings(source: "Source", value: ast.expr) -> Iterator[tuple[Binding, SourceScope]]:
    """What gives a name, or an attribute of `self`, its value."""
    if isinstance(value, ast.Name):
        holder = binder(value.id, scope_of(value))
        for one in [] if holder is None else holder.binds[value.id]:
            assert holder is not None
            yield one, holder
    elif isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        cls = class_of_self(value.value)
        for one in [] if cls is None else source.names.field_bindings(cls, value.attr):
            assert cls is not None
            yield one, cls


def given_in(repeated: Round, function: SourceScope, name: str) -> tuple[ast.expr | None, Round]:
    """What a round gives for a parameter of a function that is called in it."""
    for number, passage in enumerate(repeated.through):
        if passage.function is function:
            outer = Round(repeated.name, repeated.node, repeated.through[:number])
            return argument(passage.call, function, name), outer
    return None, repeated


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
    if isinstance(value, ast.Attribute):
        is_of_self = isinstance(value.value, ast.Name) and class_of_self(value.value) is not None
        if is_of_self:
            is_stored = any(_is_set_in(one, repeated) for one, _ in bound)
            return not is_stored and _is_self_older(source, repeated, steps)
        return is_older(source, value.value, repeated, steps - 1)
    for binding, scope in bound:
        if binding.how is How.PARAMETER:
            given, outer = given_in(repeated, scope, value.id)
            if given is None or not is_older(source, given, outer, steps - 1):
                return False
        elif binding.how is How.IMPORT:
            continue
        elif binding.how is How.ITEM and binding.node is repeated.node:
            return False
        elif repeated.holds(_node(binding)) and not (
            isinstance(binding.value, ast.Name | ast.Attribute)
            and is_older(source, binding.value, repeated, steps - 1)
        ):
            return False
    return bool(bound)


def _is_self_older(source: "Source", repeated: Round, steps: int) -> bool:
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


def trains(source: "Source", node: ast.AST) -> bool:
    """Whether a loop, or what is called in it, trains a model."""
    for call in source.reached(node):
        func = call.func
        name = func.attr if isinstance(func, ast.Attribute) else ""
        if name in _STEPS or (name in _TRAINING and source.method_of(call, ValueKind.MODEL)):
            return True
    return False
