"""What a gradient tape records."""

import ast
from typing import TYPE_CHECKING

from lowwater.check.lookup import last_name, scope_of
from lowwater.check.scopes import around
from lowwater.check.things import ValueKind

if TYPE_CHECKING:
    from lowwater.check.source import Source


def is_on_tape(source: "Source", node: ast.AST, hops: int = 1) -> bool:
    """Whether a tape records a node: here, or where the function around it is called."""
    for outer in around(node):
        if isinstance(outer, ast.With | ast.AsyncWith):
            kinds = [_with_kind(source, item.context_expr) for item in outer.items]
            if "stop_recording" in kinds:
                return False
            if ValueKind.TAPE in kinds:
                return True
        elif isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            break
    function = scope_of(node)
    return bool(hops) and any(
        source.is_on_tape(call, hops - 1) for call in source.names.calls_of_function(function)
    )


def _with_kind(source: "Source", entered: ast.expr) -> str:
    if isinstance(entered, ast.Call) and source.method_of(entered, ValueKind.TAPE):
        return last_name(entered.func)
    return ValueKind.TAPE if ValueKind.TAPE in source.kinds(entered) else ""
