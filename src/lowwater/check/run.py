"""`lowwater check` from the paths to the report: walks, reads, asks, and keeps the order."""

from collections.abc import Sequence

from lowwater.check.judge import FRAMEWORK_WORDS, asked
from lowwater.check.modules import ProjectModules
from lowwater.check.one_file import LARGEST_BYTES, CheckedFile, check, decoded
from lowwater.check.project import Project
from lowwater.check.walk import files
from lowwater.model.source import SourceReport, Unchecked


def run(paths: Sequence[str], *, preview: bool = False) -> SourceReport:
    """Check all files below these paths."""
    project = Project(ProjectModules(paths).find, read_text)
    checked = [_checked(path, project) for path in files(paths)]
    findings = [one for file in checked for one in file.findings]
    shown = [one for one in findings if preview or not one.is_preview]
    return SourceReport(
        findings=tuple(shown),
        unchecked=tuple(file.unchecked for file in checked if file.unchecked is not None),
        files=len(checked),
        hidden_previews=len(findings) - len(shown),
    )


def _checked(path: str, project: Project) -> CheckedFile:
    try:
        with open(path, "rb") as stream:
            data = stream.read(LARGEST_BYTES + 1)
    except OSError as error:
        return CheckedFile(path, unchecked=Unchecked(path, error.strerror or str(error)))
    if len(data) > LARGEST_BYTES:
        return CheckedFile(path, unchecked=Unchecked(path, "larger than 10 MiB"))
    if not FRAMEWORK_WORDS.search(data) or not asked(data.decode("latin-1")):
        return CheckedFile(path)
    return check(path, data, project)


def read_text(path: str) -> str:
    """A module of the project, as text."""
    with open(path, "rb") as stream:
        return decoded(stream.read(LARGEST_BYTES))
