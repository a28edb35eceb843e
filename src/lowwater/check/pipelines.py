"""A data pipeline as the source writes it: its steps in their order, through names and helpers."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lowwater.check.library import PIPELINE_STEPS
from lowwater.check.lookup import argument, binder, scope_of
from lowwater.check.scopes import Binding, How, SourceScope, around
from lowwater.check.things import ValueKind

if TYPE_CHECKING:
    from lowwater.check.source import Source

# How far a pipeline is followed: steps and names, and branches that it may have come by.
_LONGEST: Final = 40
_MOST_BRANCHES: Final = 8
_BLOCKS: Final = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.ExceptHandler, ast.Match,
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class PipelineStep:
    """One call of a pipeline: `data.map(f)` is the step `map`."""

    name: str
    call: ast.Call

    def given(self, name: str, at: int = 0) -> ast.expr | None:
        """The argument of this name, or at this place."""
        named = next((one.value for one in self.call.keywords if one.arg == name), None)
        return self.call.args[at] if named is None and len(self.call.args) > at else named


@dataclass(frozen=True, slots=True, eq=False)
class SourcePipeline:
    """The steps that lead to a data set, the last one first, and what they start from."""

    steps: tuple[PipelineStep, ...]
    start: ast.expr


@dataclass(frozen=True, slots=True)
class _Way:
    """How far one pipeline has been followed, and the calls that were entered on the way."""

    at: ast.expr
    steps: tuple[PipelineStep, ...] = ()
    entered: tuple[tuple[SourceScope, ast.Call], ...] = ()
    length: int = 0


def pipelines(source: "Source", node: ast.expr) -> list[SourcePipeline]:
    """All ways in which a data set may have been made; none where it is something else."""
    found: list[SourcePipeline] = []
    waiting = [_Way(node)]
    while waiting and len(found) < _MOST_BRANCHES:
        way = waiting.pop()
        before = _before(source, way) if way.length < _LONGEST else []
        if before:
            waiting += before
        elif _may_be_data(source, way.at):
            found.append(SourcePipeline(way.steps, way.at))
    return found


def _may_be_data(source: "Source", start: ast.expr) -> bool:
    kinds = source.kinds(start)
    return not kinds or ValueKind.DATASET in kinds


def _before(source: "Source", way: _Way) -> list[_Way]:
    """Where a pipeline was one step earlier; nowhere if it starts here."""
    node = way.at
    if isinstance(node, ast.Call):
        return _before_call(source, way, node)
    if isinstance(node, ast.Name):
        return [_moved(way, one) for one in _values_of(source, way, node)]
    if isinstance(node, ast.Attribute):
        return [_moved(way, one) for one in _field_values(source, node)]
    return []


def _moved(way: _Way, at: ast.expr) -> _Way:
    return _Way(at, way.steps, way.entered, way.length + 1)


def _before_call(source: "Source", way: _Way, call: ast.Call) -> list[_Way]:
    func = call.func
    things = source.things(func)
    if isinstance(func, ast.Attribute) and func.attr in PIPELINE_STEPS:
        if any(thing.scope is not None for thing in things) or _is_of_module(source, func):
            return []
        return [
            _Way(
                func.value, (*way.steps, PipelineStep(func.attr, call)), way.entered, way.length + 1
            )
        ]
    for thing in things:
        scope = thing.scope
        if scope is not None and scope.is_function and len(scope.returns) == 1:
            entered = (*way.entered, (scope, call))
            return [_Way(scope.returns[0], way.steps, entered, way.length + 1)]
    return []


def _is_of_module(source: "Source", func: ast.Attribute) -> bool:
    """`np.repeat` is no step."""
    known = (ValueKind.MODULE, ValueKind.FUNCTION, ValueKind.ARRAY, ValueKind.TENSOR)
    return bool(source.kinds(func.value) & set(known))


def _field_values(source: "Source", node: ast.Attribute) -> list[ast.expr]:
    """What an attribute of an object of the project was given, if it is given one thing only."""
    for owner in source.things(node.value):
        if owner.scope is not None and owner.scope.is_class:
            made = source.names.field_bindings(owner.scope, node.attr)
            values = [one.value for one in made if one.how is How.VALUE and one.value is not None]
            values = [one for one in values if not _is_none(one)]
            return values if len(values) == 1 and node not in ast.walk(values[0]) else []
    return []


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _values_of(source: "Source", way: _Way, name: ast.Name) -> list[ast.expr]:
    """What a name may stand for at this place; nothing where it cannot be said."""
    here = scope_of(name)
    holder = binder(name.id, here)
    if holder is None:
        return []
    bound = holder.binds[name.id]
    if holder is not here:
        before = bound if len(bound) == 1 else []
    else:
        before = [*_last_before(bound, name)]
    values: list[ast.expr] = []
    for one in before:
        if one.how is How.VALUE and one.value is not None:
            values.append(one.value)
        elif one.how is How.PARAMETER:
            values += _given(source, way, holder, name.id)
        else:
            return []
    return values


def _given(source: "Source", way: _Way, function: SourceScope, name: str) -> Iterator[ast.expr]:
    """What the caller gave: the one that the pipeline was followed from, or any of the file."""
    entered = [call for scope, call in way.entered if scope is function]
    for call in entered or source.names.calls_of_function(function):
        given = argument(call, function, name)
        if given is not None:
            yield given


def _last_before(bound: list[Binding], name: ast.Name) -> Iterator[Binding]:
    """The bindings that a name may have at a place: the last, and others if that is in a branch.

    In a branch of its own the name cannot be followed back into another branch: `if training:`
    and `if not training:` are one choice, and reading cannot see that.
    """
    place = (name.lineno, name.col_offset)
    mine = set(_blocks(name))
    inside = {*around(name)}
    earlier = [one for one in bound if _place(one) < place and one.node not in inside]
    for one in sorted(earlier, key=_place, reverse=True):
        others = [block for block in _blocks(one.node) if block not in mine]
        if not others:
            yield one
            return
        if any(not isinstance(block[0], ast.If) for block in others):
            return
        if not any(isinstance(block[0], ast.If) for block in mine):
            yield one


def _place(binding: Binding) -> tuple[int, int]:
    node = binding.node[0] if isinstance(binding.node, tuple) else binding.node
    return (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))


def _blocks(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """The branches and loops around a node in its function, each with the part that it is in."""
    inner = node
    for outer in around(node) if not isinstance(node, tuple) else ():
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            return
        if isinstance(outer, _BLOCKS):
            parts = ("body", "orelse", "handlers", "finalbody", "cases")
            part = next((one for one in parts if inner in _list(outer, one)), "")
            if part:
                yield outer, part
        inner = outer


def _list(node: ast.AST, name: str) -> list[ast.AST]:
    found = getattr(node, name, [])
    return found if isinstance(found, list) else []


def steps_of(source: "Source", name: str) -> Iterator[tuple[PipelineStep, list[SourcePipeline]]]:
    """The steps of this name in the file, each with all that may come before it."""
    for call in source.calls_of(name):
        if isinstance(call.func, ast.Attribute):
            before = source.pipelines(call.func.value)
            if before and not _is_own(source, call):
                yield PipelineStep(name, call), before


def _is_own(source: "Source", call: ast.Call) -> bool:
    """Whether a call is one of the project, or of a library that is no pipeline."""
    return any(
        thing.scope is not None or thing.kind is not ValueKind.METHOD
        for thing in source.things(call.func)
    )
