"""The findings of `lowwater check` as text: each with its line, a mark below it, and the fix."""

from collections.abc import Iterator
from typing import Final

from lowwater.model.printable import one_line, printable
from lowwater.model.source import SourceFinding, SourceReport, Unchecked
from lowwater.report._words import counted

_WIDEST_CODE: Final = 160
_AROUND: Final = 40


def render(report: SourceReport) -> str:
    """All findings, what could not be checked, and a summary."""
    blocks = ["\n".join(_finding(one)) for one in report.findings]
    blocks += [f"Found in the run only: {one_line(one)}" for one in report.only_in_run]
    blocks += [_unchecked(one) for one in report.unchecked]
    return "\n\n".join([*blocks, _summary(report)])


def _finding(finding: SourceFinding) -> Iterator[str]:
    span = finding.span
    yield f"{place(finding)} {finding.code} {finding.name}: {one_line(finding.message)}"
    gutter = " " * len(str(span.line))
    yield f"{gutter} |"
    for number, line in enumerate(finding.code_lines, span.line - len(finding.code_lines) + 1):
        is_last = number == span.line
        start = _start(span.column) if is_last else 0
        yield f"{number:>{len(gutter)}} | {printable(line[start:][:_WIDEST_CODE])}".rstrip()
        if is_last:
            yield f"{gutter} | {_mark(finding, line, start)}".rstrip()
    yield f"{gutter} |"
    yield f"{gutter} = fix: {one_line(finding.fix)}"
    if finding.measured:
        yield f"{gutter} = measured: {one_line(finding.measured)}"
    if finding.in_run:
        yield f"{gutter} = run: {one_line(finding.in_run)}"


def place(finding: SourceFinding) -> str:
    """`train.py:14:9`, or `notebook.ipynb:cell 3:14:9`."""
    cell = "" if finding.cell is None else f"cell {finding.cell}:"
    return f"{one_line(finding.path)}:{cell}{finding.span.line}:{finding.span.column}"


def _start(column: int) -> int:
    """Where a long line is cut, so that what is marked is seen."""
    return 0 if column < _WIDEST_CODE - _AROUND else max(0, column - _AROUND)


def _mark(finding: SourceFinding, line: str, start: int) -> str:
    span = finding.span
    end = span.end_column if span.end_line == span.line else len(line.rstrip()) + 1
    before = printable(line[start : span.column - 1])
    marked = printable(line[span.column - 1 : end - 1])[:_WIDEST_CODE]
    return f"{' ' * _cells(before)}{'^' * max(1, _cells(marked))} {one_line(finding.label)}"


def _cells(text: str) -> int:
    """How wide a terminal shows it."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _unchecked(one: Unchecked) -> str:
    return f"{one_line(one.path)}: not checked: {one_line(one.why)}"


def _summary(report: SourceReport) -> str:
    checked = counted(report.files - len(report.unchecked), "file")
    found = counted(len(report.findings), "finding") if report.findings else "No findings"
    told = f"{found} in {checked}."
    if report.fixed:
        told = f"{counted(report.fixed, 'finding')} fixed. {told}"
    return told + _fixable(report)


def _fixable(report: SourceReport) -> str:
    edits = [one for one in report.findings if one.edits and one.cell is None]
    safe = sum(one.is_safe for one in edits)
    told = f" Safe fixes: {safe}, apply with --fix." if safe else ""
    if len(edits) > safe:
        told += f" Unsafe fixes: {len(edits) - safe}, see --diff --unsafe-fixes."
    return told
