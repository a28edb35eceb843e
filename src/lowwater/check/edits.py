"""What a fix writes: calls around an expression, lines below the imports."""

import ast
from typing import TYPE_CHECKING

from lowwater.check.things import ValueKind
from lowwater.model.source import Edit, SourceSpan

if TYPE_CHECKING:
    from lowwater.check.source import Source


def wrapped(source: "Source", node: ast.expr, function: str) -> tuple[Edit, ...]:
    """Edits that put a call of a library function around an expression.

    None where the file has no name for that library.
    """
    package, _, name = function.rpartition(".")
    for bound in source.file.top.binds:
        for thing in source.names.named(bound, source.file.top):
            if thing.kind is ValueKind.MODULE and thing.name == package:
                span = source.span(node)
                start = SourceSpan(span.line, span.column, span.line, span.column)
                end = SourceSpan(span.end_line, span.end_column, span.end_line, span.end_column)
                return (Edit(start, f"{bound}.{name}("), Edit(end, ")"))
    return ()


def insertion_after_imports(source: "Source", text: str) -> Edit:
    """An edit that adds lines below the imports at the top of the file."""
    line = 1
    for statement in _top_statements(source):
        if isinstance(statement, ast.Import | ast.ImportFrom) or is_docstring(statement):
            line = (statement.end_lineno or 0) + 1
        else:
            break
    return Edit(SourceSpan(line, 1, line, 1), text)


def _top_statements(source: "Source") -> list[ast.stmt]:
    assert isinstance(source.file.top.node, ast.Module)
    return source.file.top.node.body


def is_docstring(statement: ast.stmt) -> bool:
    """Whether a statement is a text on its own."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)
