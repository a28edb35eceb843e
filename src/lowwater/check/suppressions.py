"""`# lowwater: allow[LW101] reason`: findings that somebody has looked into."""

import io
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from lowwater.model.source import SourceFinding, SourceSpan

MARK: Final = "lowwater: allow"
_COMMENT: Final = re.compile(r"#\s*lowwater:\s*allow\s*\[(?P<codes>[^\]]*)\]\s*:?(?P<reason>.*)")
CODE: Final = "LW001"
NAME: Final = "suppression"


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment that allows findings: where it is, and the line of code that it is for."""

    span: SourceSpan
    line: int
    codes: tuple[str, ...]
    reason: str
    text: str
    cell: int | None = None


def suppressions_in(text: str) -> tuple[Suppression, ...]:
    """All of them in a file, in the order of the lines."""
    return tuple(_found(text)) if MARK in text else ()


def _found(text: str) -> Iterator[Suppression]:
    lines = text.split("\n")
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            match = _COMMENT.match(token.string) if token.type == tokenize.COMMENT else None
            if match is None:
                continue
            row, column = token.start
            codes = tuple(filter(None, re.split(r"[\s,]+", match["codes"])))
            span = SourceSpan(row, column + 1, row, token.end[1] + 1)
            is_alone = not lines[row - 1][:column].strip()
            line = _next_code(lines, row) if is_alone else row
            yield Suppression(span, line, codes, match["reason"].strip(), lines[row - 1])
    except (tokenize.TokenError, SyntaxError):
        # The parser was content with it, or has told already.
        return


def _next_code(lines: list[str], row: int) -> int:
    """A comment on a line of its own is for the code below it."""
    for number in range(row, len(lines)):
        stripped = lines[number].strip()
        if stripped and not stripped.startswith("#"):
            return number + 1
    return row


def apply(
    findings: Iterable[SourceFinding],
    suppressions: Iterable[Suppression],
    path: str,
    *,
    is_asked: Callable[[str], bool] = bool,
) -> list[SourceFinding]:
    """The findings that remain, and what is wrong with the comments.

    `is_asked` says which codes were looked for: a comment for another one is not idle.
    """
    found = list(findings)
    told: list[SourceFinding] = []
    for one in suppressions:
        allowed = [finding for finding in found if _allows(one, finding)]
        found = [finding for finding in found if finding not in allowed]
        idle = [code for code in one.codes if code not in {each.code for each in allowed}]
        told += _complaints(one, path, [*filter(is_asked, idle)])
    return sorted(
        [*found, *told],
        key=lambda each: (each.cell or 0, each.span.line, each.span.column, each.code),
    )


def _allows(one: Suppression, finding: SourceFinding) -> bool:
    is_there = finding.span.line <= one.line <= finding.span.end_line
    return is_there and finding.cell == one.cell and finding.code in one.codes


def _complaints(one: Suppression, path: str, idle: list[str]) -> Iterator[SourceFinding]:
    if not one.codes:
        yield _complaint(one, path, "This comment names no code.", "Write `allow[LW101] why`.")
        return
    if idle:
        names = ", ".join(idle)
        message = f"Nothing to suppress: {names} is not found here."
        yield _complaint(one, path, message, f"Remove {names} from the comment.")
    if not one.reason:
        codes = ", ".join(one.codes)
        advice = f"Write why this is right: `# lowwater: allow[{codes}] replay needs them`."
        yield _complaint(one, path, "This suppression has no reason.", advice)


def _complaint(one: Suppression, path: str, message: str, fix: str) -> SourceFinding:
    lines = (one.text.rstrip("\r"),)
    return SourceFinding(
        CODE, NAME, path, one.span, message, "", fix, cell=one.cell, code_lines=lines
    )
