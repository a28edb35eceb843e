"""What adds to a container, before it is known whether that grows."""

import ast
from collections.abc import Iterator
from typing import Final, NamedTuple

from lowwater.check.scopes import How, SourceScope, Store

# The method that adds -> which of its arguments is kept.
ADDING: Final = {
    "append": 0, "add": 0, "appendleft": 0, "insert": 1, "extend": 0, "extendleft": 0, "update": 0,
    "put": 0, "setdefault": 1,
}  # fmt: skip


class Adding(NamedTuple):
    """What adds something to something, before it is known whether that grows."""

    node: ast.expr | ast.stmt
    container: ast.expr
    value: ast.expr
    key: ast.expr | None


def additions(scope: SourceScope) -> Iterator[Adding]:
    """All that adds to something in a scope."""
    for call in scope.calls:
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr in ADDING:
            yield from _added_by_call(call, func)
    for store in scope.stores:
        yield from _added_by_store(store)
    for bindings in scope.binds.values():
        for binding in bindings:
            if binding.value is not None and _is_display(binding):
                yield Adding(binding.node, binding.node.target, binding.value, None)


def _added_by_call(call: ast.Call, func: ast.Attribute) -> Iterator[Adding]:
    at, given = ADDING[func.attr], call.args
    if func.attr == "update":
        if given and isinstance(given[0], ast.Dict):
            for key, value in zip(given[0].keys, given[0].values, strict=True):
                if key is not None:
                    yield Adding(call, func.value, value, key)
    elif len(given) > at:
        key = given[0] if func.attr == "setdefault" else None
        yield Adding(call, func.value, given[at], key)


def _added_by_store(store: Store) -> Iterator[Adding]:
    binding, target = store.binding, store.target
    if binding.value is None:
        return
    is_item = isinstance(target, ast.Subscript)
    if isinstance(target, ast.Subscript) and binding.how is How.VALUE:
        yield Adding(binding.node, target.value, binding.value, target.slice)
    elif _is_display(binding):
        base = target.value if is_item else target
        yield Adding(binding.node, base, binding.value, getattr(target, "slice", None))


def _is_display(binding: object) -> bool:
    """Whether it is `+= […]`."""
    node = getattr(binding, "node", None)
    return (
        isinstance(node, ast.AugAssign)
        and isinstance(node.op, ast.Add)
        and isinstance(node.value, ast.List | ast.Tuple)
    )


def is_set(node: ast.AST) -> bool:
    """Whether something is added to a set."""
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return is_call and node.func.attr == "add"  # type: ignore[attr-defined]
