"""What has another value in each round."""

import ast
from typing import TYPE_CHECKING

from lowwater.check.givers import is_data_set
from lowwater.check.lookup import argument, binder, scope_of
from lowwater.check.rounds import Round
from lowwater.check.scopes import Binding, How, SourceScope, around

if TYPE_CHECKING:
    from lowwater.check.source import Source


def changes(source: "Source", node: ast.expr, repeated: Round) -> bool:
    """Whether an expression has another value in each round."""
    return any(_changes(source, name, repeated) for name in ast.walk(node))


def changes_by_call(source: "Source", node: ast.expr, call: ast.Call) -> bool:
    """Whether a value differs from one run of a call to the next."""
    counted = any(_changes(source, one, None) for one in ast.walk(node))
    return counted or any(source.changes(node, one) for one in source.rounds(call))


def _changes(source: "Source", node: ast.AST, repeated: Round | None) -> bool:
    if isinstance(node, ast.Name) and repeated is not None:
        return _name_changes(source, node, repeated)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return _attribute_changes(source, node)
    return False


def _name_changes(source: "Source", node: ast.Name, repeated: Round) -> bool:
    holder = binder(node.id, scope_of(node))
    if holder is None:
        return False
    # Inside of what gives it its value, a name means its old one.
    outside = [*around(node)]
    is_old = any(one.value in outside for one in holder.binds[node.id])
    key = (holder, node.id, repeated, is_old)
    if key not in source.kept.changing:
        # Names that depend on each other in a circle add nothing to the answer.
        source.kept.changing[key] = False
        source.kept.changing[key] = any(
            _binding_changes(source, one, holder, node, repeated) for one in holder.binds[node.id]
        )
    return source.kept.changing[key]


def _binding_changes(
    source: "Source", binding: Binding, holder: SourceScope, node: ast.Name, repeated: Round
) -> bool:
    """Whether a name gets another value here in each round."""
    how = binding.how
    if isinstance(binding.value, ast.IfExp) and _starts_again(binding.value):
        return False
    if how is How.PARAMETER:
        # The indices of a data set come again in each epoch.
        is_count = (
            holder.node is repeated.node
            and node.id in _numbers_of(holder)
            and not is_data_set(source, holder.outer)
        )
        return is_count or _argument_changes(source, holder, node.id, repeated)
    if how is How.ITEM:
        loops = (repeated.node, *getattr(repeated.node, "generators", ()))
        return binding.node in loops
    if how is How.AUGMENTED:
        return repeated.holds(binding.node)
    if how not in (How.VALUE, How.PART) or binding.value is None:
        return False
    is_here = repeated.holds(binding.node) and node not in ast.walk(binding.value)
    return is_here and _depends(source, binding.value, node.id, repeated)


def _starts_again(value: ast.IfExp) -> bool:
    """Whether a value is set back now and then: `0.5 if step % 4 == 3 else scale * 0.9`."""
    return isinstance(value.body, ast.Constant) or isinstance(value.orelse, ast.Constant)


def _numbers_of(function: SourceScope) -> set[str]:
    """The parameters of a method of a callback that count: `epoch`, `batch`."""
    return {one.arg for one in function.parameters if one.arg not in ("self", "logs")}


def _argument_changes(source: "Source", function: SourceScope, name: str, repeated: Round) -> bool:
    """Whether a parameter gets another value in each round."""
    for number, passage in enumerate(repeated.through):
        if passage.function is function:
            given = argument(passage.call, function, name)
            outer = Round(repeated.name, repeated.node, repeated.through[:number])
            return given is not None and source.changes(given, outer)
    return False


def _depends(source: "Source", value: ast.expr, name: str, repeated: Round) -> bool:
    """Whether a value that a name gets in the round changes with it: `eps = eps * 0.9`."""
    names = [one for one in ast.walk(value) if isinstance(one, ast.Name)]
    if any(one.id == name for one in names):
        return not isinstance(value, ast.Call)
    return any(_changes(source, one, repeated) for one in ast.walk(value)
               if not isinstance(one, ast.Name) or one.id != name)  # fmt: skip


def _attribute_changes(source: "Source", node: ast.Attribute) -> bool:
    """Whether an attribute is counted on anywhere in the file: `self.step += 1`."""
    return node.attr in source.counted


def counted(source: "Source") -> frozenset[str]:
    """The attributes that are counted on somewhere in the file."""
    return frozenset(
        store.target.attr
        for scope in source.scopes
        for store in scope.stores
        if isinstance(store.target, ast.Attribute) and store.binding.how is How.AUGMENTED
    )


def is_of_round(source: "Source", value: ast.expr, repeated: Round) -> bool:
    """Whether a value is made in the round itself, and not before it."""
    if isinstance(value, ast.Tuple | ast.List | ast.Dict):
        items = value.values if isinstance(value, ast.Dict) else value.elts
        return any(source.is_of_round(one, repeated) for one in items)
    if isinstance(value, ast.Name):
        holder = binder(value.id, scope_of(value))
        bound = [] if holder is None else holder.binds[value.id]
        return any(
            one.how in (How.VALUE, How.PART)
            and one.value is not None
            and repeated.holds(one.node)
            and source.is_of_round(one.value, repeated)
            for one in bound
        )
    return isinstance(value, ast.Call)
