"""Where a node is in the file, in characters."""

import ast
from typing import TYPE_CHECKING

from lowwater.check.pipelines import PipelineStep
from lowwater.model.source import SourceSpan

if TYPE_CHECKING:
    from lowwater.check.source import Source


def span(source: "Source", node: ast.AST | PipelineStep) -> SourceSpan:
    """Where a node is, in characters; of a step of a pipeline, where its name is."""
    if isinstance(node, PipelineStep):
        return _span_of_step(source, node)
    assert isinstance(node, ast.expr | ast.stmt | ast.keyword | ast.arg | ast.ExceptHandler)
    end_line = node.end_lineno or node.lineno
    end_offset = node.end_col_offset or node.col_offset
    return SourceSpan(
        node.lineno,
        _column(source, node.lineno, node.col_offset),
        end_line,
        _column(source, end_line, end_offset),
    )


def _span_of_step(source: "Source", step: PipelineStep) -> SourceSpan:
    whole, func = source.span(step.call), source.span(step.call.func)
    column = max(1, func.end_column - len(step.name))
    return SourceSpan(func.end_line, column, whole.end_line, whole.end_column)


def _column(source: "Source", line: int, offset: int) -> int:
    """Python counts bytes of UTF-8."""
    text = source.ast_lines[line - 1] if line <= len(source.ast_lines) else ""
    if text.isascii():
        return offset + 1
    return len(text.encode()[:offset].decode(errors="replace")) + 1


def ast_lines(source: "Source") -> list[str]:
    """Lines as the parser counts them: a form feed ends none."""
    return source.file.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def text_of(source: "Source", node: ast.expr | ast.stmt) -> str:
    """An expression as it is written, on one line."""
    return " ".join((ast.get_source_segment(source.file.text, node) or ast.unparse(node)).split())
