"""`lowwater check --fix`: writes the fixed files, or shows what would change."""

import contextlib
import difflib
import os
import tempfile
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace

from lowwater.check.fixes import fixed, wanted
from lowwater.check.one_file import decoded, encoding_of
from lowwater.check.run import read
from lowwater.model.source import SourceFinding, SourceReport

# A fix may uncover another: so often at the most.
MOST_ROUNDS = 10


@dataclass(frozen=True, slots=True)
class FixedFile:
    """One file before and after."""

    path: str
    before: str
    after: str
    encoding: str

    @property
    def diff(self) -> str:
        """What changes, as a patch."""
        lines = difflib.unified_diff(
            self.before.splitlines(keepends=True),
            self.after.splitlines(keepends=True),
            self.path,
            self.path,
        )
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def fix_all(
    report: SourceReport, again: Callable[[], SourceReport], *, unsafe: bool
) -> SourceReport:
    """Fix, look again and fix what that shows, until nothing changes; what is left is told."""
    count = 0
    for _ in range(MOST_ROUNDS):
        changed = fix(report, unsafe=unsafe)
        if not changed:
            break
        for file in changed:
            write(file)
        before, report = report, again()
        count += max(0, len(before.findings) - len(report.findings))
    return replace(report, fixed=count)


def fix(report: SourceReport, *, unsafe: bool) -> list[FixedFile]:
    """The files that change; nothing is written."""
    by_path: dict[str, list[SourceFinding]] = defaultdict(list)
    for one in wanted(report.findings, unsafe=unsafe):
        by_path[one.path].append(one)
    done = (_fixed(path, found) for path, found in by_path.items())
    return [one for one in done if one.before != one.after]


def _fixed(path: str, found: list[SourceFinding]) -> FixedFile:
    data = read(path)
    before = decoded(data)
    return FixedFile(path, before, fixed(before, found), encoding_of(data))


def write(file: FixedFile) -> None:
    """Put the fixed text in the place of the file: whole or not at all, with the same rights."""
    path = os.path.realpath(file.path)
    handle, partial = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".lowwater-")
    try:
        with open(handle, "wb") as stream:
            stream.write(file.after.encode(file.encoding))
        os.chmod(partial, os.stat(path).st_mode & 0o7777)
        os.replace(partial, path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(partial)
