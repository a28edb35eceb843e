"""One file from its bytes to its findings; whatever is in it, the rest of the files is checked."""

import io
import re
import tokenize
import warnings
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from lowwater.check import judge, notebook
from lowwater.check.project import UNREADABLE, Project
from lowwater.check.suppressions import Suppression, suppressions_in
from lowwater.model.source import SourceFinding, SourceSpan

# Longer than any file that somebody wrote: generated, and not worth minutes.
LARGEST_BYTES = 10 * 1024 * 1024
# More than fits on a screen of a line that somebody has generated.
_MOST_BEHIND = 400


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """What was found in one file, or why it was not checked."""

    findings: tuple[SourceFinding, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
    why_not: str = ""


def check(
    path: str, data: bytes, project: Project, codes: Collection[str] | None = None
) -> CheckedFile:
    """The findings in one file: of all causes that it has a word of, or of these."""
    try:
        return _check(path, data, project, codes)
    except UNREADABLE as error:
        return CheckedFile(why_not=_why(error))


def _why(error: BaseException) -> str:
    """In a few words, why a file cannot be checked."""
    if isinstance(error, SyntaxError):
        line = f" (line {error.lineno})" if error.lineno else ""
        return f"not valid Python: {error.msg}{line}"
    if isinstance(error, UnicodeDecodeError):
        return f"not {error.encoding} text: byte {error.start} is wrong"
    if isinstance(error, RecursionError | MemoryError):
        return "nested too deeply"
    prefix = "" if isinstance(error, notebook.NoNotebook) else "not valid Python: "
    return f"{prefix}{error}"


def _check(path: str, data: bytes, project: Project, codes: Collection[str] | None) -> CheckedFile:
    cells = notebook.read(data) if path.endswith(".ipynb") else None
    text = decoded(data) if cells is None else cells.text
    allowed = suppressions_in(text)
    found = _found(path, text, project, codes)
    if found:
        lines = re.split("\r\n|\r|\n", text)
        found = [replace(one, code_lines=lines_of(lines, one.span)) for one in found]
    if cells is not None:
        found = [*_in_cells(found, cells)]
        allowed = tuple(_moved(one, cells) for one in allowed)
    return CheckedFile(tuple(found), allowed, "" if cells is None else cells.left_out)


def _found(
    path: str, text: str, project: Project, codes: Collection[str] | None
) -> list[SourceFinding]:
    if codes is not None and not codes:
        return []
    with warnings.catch_warnings():
        # An odd escape in a string is not our business.
        warnings.simplefilter("ignore")
        file = project.add(path, text)
    return judge.find(file, project, codes)


def decoded(data: bytes) -> str:
    """The text of a Python file, in the encoding that it declares."""
    return data.decode(encoding_of(data))


def encoding_of(data: bytes) -> str:
    """The encoding that a Python file declares; UTF-8 where it declares none."""
    return tokenize.detect_encoding(io.BytesIO(data).readline)[0]


def lines_of(lines: list[str], span: SourceSpan) -> tuple[str, ...]:
    """The line of a finding, after the one before it where that is not empty."""
    longest = span.column + _MOST_BEHIND
    shown = [line[:longest] for line in lines[max(0, span.line - 2) : span.line]]
    return tuple(shown[1:] if len(shown) > 1 and not shown[0].strip() else shown)


def _in_cells(found: Iterable[SourceFinding], cells: notebook.Notebook) -> Iterator[SourceFinding]:
    """The same findings with the cell and the line in it."""
    for one in found:
        span = _span_in_cell(one.span, cells)
        # The line before it may be the end of another cell.
        lines = one.code_lines if span.line > 1 else one.code_lines[-1:]
        indent = " " * cells.places[one.span.line - 1].indent
        shown = tuple(indent + line for line in lines)
        cell = cells.places[one.span.line - 1].cell
        yield replace(one, cell=cell, span=span, code_lines=shown)


def _span_in_cell(span: SourceSpan, cells: notebook.Notebook) -> SourceSpan:
    first = cells.places[span.line - 1]
    last = cells.places[min(span.end_line, len(cells.places)) - 1]
    column, end = span.column + first.indent, span.end_column + last.indent
    return SourceSpan(first.line, column, last.line, end)


def _moved(one: Suppression, cells: notebook.Notebook) -> Suppression:
    meant = cells.places[min(one.line, len(cells.places)) - 1].line
    cell = cells.places[one.span.line - 1].cell
    return replace(one, span=_span_in_cell(one.span, cells), line=meant, cell=cell)
