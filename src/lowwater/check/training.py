"""What trains a model: a call, a loop, a function that is traced."""

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from lowwater.check.rounds import Round
from lowwater.check.scopes import SourceScope, around
from lowwater.check.things import ValueKind

if TYPE_CHECKING:
    from lowwater.check.source import Source

_TRAINING: Final = frozenset({"fit", "train_on_batch", "fit_generator"})
_STEPS: Final = frozenset({"apply_gradients", "backward", "minimize"})
_WRAPPERS: Final = ("tensorflow.function", "tensorflow.v1.function")


def trains(source: "Source", node: ast.AST) -> bool:
    """Whether a loop, or what is called in it, trains a model."""
    for call in source.reached(node):
        func = call.func
        name = func.attr if isinstance(func, ast.Attribute) else ""
        if name in _STEPS or (name in _TRAINING and source.method_of(call, ValueKind.MODEL)):
            return True
    return False


def trains_in_round(source: "Source", repeated: Round) -> bool:
    """Whether a model is trained in a round: a callback is called by training."""
    return not repeated.is_loop or trains(source, repeated.node)


def traced_training(source: "Source") -> Iterator[tuple[ast.AST, Round]]:
    """Each `tf.function` with a training step in it that is made again in each round."""
    for call in source.calls_of("function"):
        if source.calls_library(call, *_WRAPPERS) and call.args:
            inner = [one.scope for one in source.things(call.args[0])]
            if any(one is not None and has_training_step(one) for one in inner):
                yield from ((call, one) for one in source.rounds(call)[-1:])
    for decorator, function in source.decorated_by(*_WRAPPERS):
        if function.is_function and has_training_step(function):
            yield from ((decorator, one) for one in _rounds_of_def(source, function)[-1:])


def _rounds_of_def(source: "Source", function: SourceScope) -> list[Round]:
    """What makes a function anew: the rounds of a `def`, or those that make its objects."""
    outer = function.outer
    if outer is None or not outer.is_class:
        return source.rounds(function.node)
    return [one for call in source.calls_that_make(outer) for one in source.rounds(call)]


def has_training_step(function: SourceScope) -> bool:
    """Whether a function has an optimizer change weights."""
    calls = (call for scope in function.inside() for call in scope.calls)
    return any(isinstance(one.func, ast.Attribute) and one.func.attr in _STEPS for one in calls)


def is_worked_through(source: "Source", repeated: Round) -> bool:
    """Whether a loop counts, waits or trains: a loop over names or columns ends with them."""
    loop = repeated.node
    if not repeated.is_loop or isinstance(loop, ast.While):
        return True
    iterated = getattr(loop, "iter", None)
    if isinstance(iterated, ast.Call) and iterated.args and _is_call_of(iterated, "enumerate"):
        iterated = iterated.args[0]
    # What `__init__` makes in a loop are the parts of one object.
    function = next((one for one in around(loop) if isinstance(one, ast.FunctionDef)), None)
    if function is not None and function.name in ("__init__", "build"):
        return trains(source, loop)
    is_counted = _is_call_of(iterated, "range") or _is_call_of(iterated, "split")
    return is_counted or trains(source, loop)


def _is_call_of(node: ast.expr | None, name: str) -> bool:
    func = node.func if isinstance(node, ast.Call) else None
    return getattr(func, "id", getattr(func, "attr", "")) == name
