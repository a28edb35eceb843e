"""After a run: whether `lowwater check` reports in the source what was found in the program."""

import os
from dataclasses import replace
from functools import cached_property

from lowwater.check.config import options_from
from lowwater.check.confirm import is_seen
from lowwater.check.run import run
from lowwater.model import Finding, InSource
from lowwater.model.assignment import Assignment
from lowwater.model.interruption import quietly
from lowwater.model.source import SourceReport

# The report would wait seconds for more, and nobody wrote so long a file.
_LONGEST_BYTES = 1_000_000


class ProgramSource:
    """The files of a program as they lie on the disk; each is read when a finding names it."""

    def __init__(self, assignment: Assignment, began_s: float) -> None:
        """`began_s` is when the program started, by the clock of the file system."""
        self._assignment, self._began_s = assignment, began_s
        self._reports: dict[tuple[str, bool], SourceReport] = {}

    def look(self, finding: Finding) -> InSource | None:
        """None where the file that ran cannot be read; whatever is in it, that is no error."""
        with quietly():
            path = self._path((finding.where or "").rpartition(":")[0])
            return None if path is None else self._seen(finding, path)
        return None

    @cached_property
    def _folders(self) -> frozenset[str]:
        # Only when asked: the program may have removed the folder that we are in.
        folders = (self._assignment.folder, self._assignment.root)
        return frozenset(map(os.path.realpath, folders))

    def _path(self, shown: str) -> str | None:
        """The file that a report calls so, unless two may be meant or it is not the one that ran.

        Reports call a file by its place below the script's folder, or else below the root.
        """
        paths = (os.path.join(folder, shown) for folder in self._folders)
        found = [path for path in paths if shown and os.path.isfile(path)]
        return found[0] if len(found) == 1 and self._is_as_it_ran(found[0]) else None

    def _is_as_it_ran(self, path: str) -> bool:
        status = os.stat(path)
        return status.st_mtime <= self._began_s and status.st_size <= _LONGEST_BYTES

    def _seen(self, finding: Finding, path: str) -> InSource | None:
        # First without previews: where two rules see one place, one that is new may take it.
        for seen in (InSource.SEEN, InSource.PREVIEW):
            report = self._report(path, with_preview=seen is InSource.PREVIEW)
            if report.unchecked:
                return None
            if is_seen(finding, report):
                return seen
        return InSource.NOT_SEEN

    def _report(self, path: str, *, with_preview: bool) -> SourceReport:
        """What `lowwater check` says of one file, typed where this run was."""
        key = (path, with_preview)
        if key not in self._reports:
            options = options_from(".")
            options = replace(options, preview=with_preview or options.preview)
            self._reports[key] = run([path], options)
        return self._reports[key]
