"""`lowwater check --format github`: findings as annotations of a pull request."""

from collections.abc import Iterator

from lowwater.model.printable import one_line
from lowwater.model.source import SourceFinding, SourceReport


def render(report: SourceReport) -> str:
    """One workflow command per finding, and one per file that was not checked."""
    return "\n".join(_lines(report))


def _lines(report: SourceReport) -> Iterator[str]:
    for one in report.findings:
        message = f"{one_line(one.message)} Fix: {one_line(one.fix)}"
        title = _property(f"{one.code} {one.name}")
        yield f"::warning {_place(one)},title={title}::{_data(message)}"
    for missed in report.unchecked:
        why = _data(f"not checked: {one_line(missed.why)}")
        yield f"::notice file={_property(one_line(missed.path))}::{why}"


def _place(one: SourceFinding) -> str:
    path = _property(one_line(one.path))
    if one.cell is not None:
        # A line of a cell is no line of the file.
        return f"file={path}"
    end = f",endLine={one.span.end_line}"
    columns = f",col={one.span.column},endColumn={one.span.end_column}"
    # Columns count on one line only.
    return f"file={path},line={one.span.line}{end}" + (
        columns if one.span.line == one.span.end_line else ""
    )


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
