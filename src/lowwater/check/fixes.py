"""Carries out the fixes of findings in the text of a file; the rest of it stays as it is."""

import ast
import re
from collections.abc import Iterable
from typing import Final

from lowwater.model.source import Edit, SourceFinding

_LINE: Final = re.compile("[^\r\n]*(?:\r\n|\r|\n|$)")


def wanted(findings: Iterable[SourceFinding], *, unsafe: bool) -> list[SourceFinding]:
    """Those that can be fixed; in a notebook nothing is."""
    return [one for one in findings if one.edits and one.cell is None and (unsafe or one.is_safe)]


def fixed(text: str, findings: Iterable[SourceFinding]) -> str:
    """The text with the edits of these findings; as it was where that would not parse."""
    lines = _LINE.findall(text)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    end = len(text)
    result = text
    for edit, first, last in reversed(_apart(findings, starts)):
        assert last <= end
        result = result[:first] + edit.text.replace("\n", _newline(lines)) + result[last:]
    try:
        ast.parse(result)
    except (SyntaxError, ValueError):
        return text
    return result


def _newline(lines: list[str]) -> str:
    first = lines[0] if lines else ""
    return "\r\n" if first.endswith("\r\n") else "\n"


def _apart(findings: Iterable[SourceFinding], starts: list[int]) -> list[tuple[Edit, int, int]]:
    """The edits in the order of the text, each once, and none that touches another.

    The edits of one finding are made all or none.
    """
    taken: dict[Edit, tuple[int, int]] = {}
    for finding in findings:
        places = {edit: _place(edit, starts) for edit in finding.edits if edit not in taken}
        if not any(_touches(place, taken.values()) for place in places.values()):
            taken |= places
    return sorted(((edit, *place) for edit, place in taken.items()), key=lambda one: one[1:])


def _place(edit: Edit, starts: list[int]) -> tuple[int, int]:
    last = len(starts) - 1
    first = starts[min(edit.span.line - 1, last)] + edit.span.column - 1
    return first, starts[min(edit.span.end_line - 1, last)] + edit.span.end_column - 1


def _touches(place: tuple[int, int], others: Iterable[tuple[int, int]]) -> bool:
    return any((place[0] < other[1] and other[0] < place[1]) or place == other for other in others)
