"""What is done again and again: loops, the rounds of a callback, and the functions called there."""

import ast
from dataclasses import dataclass
from typing import Final

from lowwater.check.scopes import COMPREHENSIONS, LOOPS, SourceScope, around
from lowwater.check.things import ValueKind

# As few rounds as this are no loop that memory grows in.
FEW_ROUNDS: Final = 3
_LEAVES: Final = (ast.Return, ast.Raise, ast.Break)
_EPOCH: Final = "epoch"
_BATCH: Final = "batch"


@dataclass(frozen=True, slots=True, eq=False)
class Passage:
    """A function that is called in a round, and the call."""

    function: SourceScope
    call: ast.Call


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """What repeats: its name for the reader, and the loop or function that it is the body of.

    `through` are the functions that are called in it, the outermost first.
    """

    name: str
    node: ast.AST
    through: tuple[Passage, ...] = ()

    @property
    def is_loop(self) -> bool:
        """Whether it is a loop in the source, and not a function that a library calls."""
        return isinstance(self.node, LOOPS)

    def holds(self, node: ast.AST) -> bool:
        """Whether a node is done in this round."""
        bodies = {self.node, *(one.function.node for one in self.through)}
        return any(outer in bodies for outer in around(node))

    def beyond(self, passage: Passage) -> "Round":
        """The same round, seen from a function that is called in it."""
        return Round(self.name, self.node, (*self.through, passage))


def loops_around(node: ast.AST) -> list[ast.AST]:
    """The loops of the same function that repeat a node, the innermost first."""
    found: list[ast.AST] = []
    inner = node
    for outer in around(node):
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            break
        if isinstance(outer, LOOPS) and repeats(outer, inner) and not _is_left(node, outer):
            found.append(outer)
        inner = outer
    return found


def repeats(loop: ast.AST, child: ast.AST) -> bool:
    """Whether a direct child of a loop is evaluated in each of many rounds."""
    if isinstance(loop, ast.For | ast.AsyncFor):
        return child is not loop.iter and child not in loop.orelse and not is_short(loop.iter)
    if isinstance(loop, ast.While):
        is_once = isinstance(loop.test, ast.Constant) and not loop.test.value
        return child not in loop.orelse and not is_once
    assert isinstance(loop, COMPREHENSIONS)
    return not all(is_short(one.iter) for one in loop.generators)


def is_short(iterated: ast.expr) -> bool:
    """Whether a loop over this ends after a few rounds, as its source says."""
    if isinstance(iterated, ast.Tuple | ast.List | ast.Set):
        has_star = any(isinstance(one, ast.Starred) for one in iterated.elts)
        return len(iterated.elts) <= FEW_ROUNDS and not has_star
    if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name):
        name, given = iterated.func.id, iterated.args
        if name == "range" and len(given) == 1 and isinstance(given[0], ast.Constant):
            return isinstance(given[0].value, int) and given[0].value <= FEW_ROUNDS
        if name in ("enumerate", "reversed", "sorted") and given:
            return is_short(given[0])
        if name == "zip":
            return any(map(is_short, given))
    return False


def _is_left(node: ast.AST, loop: ast.AST) -> bool:
    """Whether the block that a node is in ends the loop: then it is done once."""
    inner = node
    for outer in around(node):
        for block in ("body", "orelse", "finalbody"):
            statements = getattr(outer, block, None)
            if isinstance(statements, list) and inner in statements:
                if outer is loop and isinstance(statements[-1], ast.Break | ast.Return):
                    return True
                if outer is not loop and isinstance(statements[-1], _LEAVES):
                    return not _is_inner_break(statements[-1], outer, loop)
        if outer is loop:
            return False
        inner = outer
    return False


def _is_inner_break(statement: ast.stmt, block: ast.AST, loop: ast.AST) -> bool:
    """Whether a `break` leaves another loop than this one."""
    if not isinstance(statement, ast.Break):
        return False
    for outer in (block, *around(block)):
        if isinstance(outer, ast.For | ast.AsyncFor | ast.While):
            return outer is not loop
    return False


def callback_round(name: str) -> str | None:
    """`on_epoch_end` -> `epoch`; None for what is called once in a training."""
    if name.startswith("on_epoch_"):
        return _EPOCH
    is_of_batches = name.startswith(("on_train_batch_", "on_test_batch_", "on_predict_batch_"))
    return _BATCH if is_of_batches or name.startswith("on_batch_") else None


def _data_round(name: str) -> str | None:
    """A data set is asked for every batch."""
    return _BATCH if name in ("__getitem__", "__next__") else None


_CALLED: Final = {ValueKind.CALLBACK: callback_round, ValueKind.DATASET: _data_round}


def rounds_of_methods(cls: SourceScope, kind: ValueKind) -> dict[SourceScope, str]:
    """The methods of an object that a library calls every epoch or batch, and those they call."""
    if kind not in _CALLED:
        return {}
    found = {
        method: name
        for method in cls.children
        if method.is_function and (name := _CALLED[kind](method.name))
    }
    waiting = list(found)
    for method in waiting:
        for helper in _own_calls(cls, method):
            if helper not in found:
                found[helper] = found[method]
                waiting.append(helper)
    return found


def _own_calls(cls: SourceScope, method: SourceScope) -> list[SourceScope]:
    """The methods of the class that a method of it calls by `self.name(…)`."""
    own = method.parameters[0].arg if method.parameters else ""
    names = {
        call.func.attr
        for scope in method.inside()
        for call in scope.calls
        if isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id == own
    }
    return [one for one in cls.children if one.is_function and one.name in names]


def lambda_round(node: ast.AST) -> str | None:
    """`LambdaCallback(on_epoch_end=lambda …)`: the lambda is called every epoch."""
    holder = getattr(node, "up", None)
    if isinstance(holder, ast.keyword) and holder.arg is not None:
        return callback_round(holder.arg)
    return None
