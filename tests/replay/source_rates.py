"""How right `lowwater check` is on the specimens: recall and precision of each rule."""

from collections.abc import Iterator
from dataclasses import dataclass

from lowwater.check.config import CheckOptions
from lowwater.check.run import run
from lowwater.check.words import ALL_CODES, PREVIEWS
from replay.first_line import INNOCENT, SPECIMENS, Truth, truth_of


@dataclass(frozen=True)
class SourceRate:
    """Of one rule: specimens that ask for it, those where it is found, findings, right ones."""

    code: str
    expected: int
    seen: int
    findings: int
    right: int
    missed: tuple[str, ...] = ()

    @property
    def is_preview(self) -> bool:
        return self.code in PREVIEWS


def rates() -> Iterator[SourceRate]:
    """One row for each rule; where a first line takes several codes, any of them is enough."""
    truths = {path: truth_of(path) for path in sorted(SPECIMENS.glob("*.py"))}
    found = {path: run([str(path)], CheckOptions(preview=True)).findings for path in truths}
    for code in sorted(ALL_CODES):
        asked = [path for path, truth in truths.items() if _asks(truth, code)]
        seen = [
            path
            for path in asked
            if any(one.code in _equal(truths[path], code) for one in found[path])
        ]
        all_of_it = [
            (path, one) for path, told in found.items() for one in told if one.code == code
        ]
        right = [one for path, one in all_of_it if _is_right(truths[path], code, one.span.line)]
        missed = tuple(path.stem for path in asked if path not in seen)
        yield SourceRate(code, len(asked), len(seen), len(all_of_it), len(right), missed)


def _asks(truth: Truth, code: str) -> bool:
    """Whether a leak is this one, first of all."""
    return truth.is_leak and any(one.codes[0] == code for one in truth.findings)


def _equal(truth: Truth, code: str) -> set[str]:
    return {other for one in truth.findings if code in one.codes for other in one.codes}


def _is_right(truth: Truth, code: str, line: int) -> bool:
    same = [one for one in truth.findings if code in one.codes]
    return any(not one.lines or line in one.lines for one in same) or code in INNOCENT
