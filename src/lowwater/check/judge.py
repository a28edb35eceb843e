"""One file: every cause is asked whether it is in the source, and suppressions are heard."""

import re
from functools import cache
from typing import Final

from lowwater.causes.catalogue import CAUSES, Cause
from lowwater.check.project import File, Project
from lowwater.check.source import Source
from lowwater.model.source import SourceClaim, SourceFinding

SOURCE_CAUSES: Final = tuple(cause for cause in CAUSES if cause.words)
# A file without any of these is about none of the libraries, unless a module that it imports is.
FRAMEWORK_WORDS: Final = re.compile(rb"keras|tensorflow|torch|jax")


@cache
def _words_of(cause: Cause) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, cause.words)))


def asked(text: str) -> list[Cause]:
    """The causes that can be in a file with this text: only their words decide."""
    return [cause for cause in SOURCE_CAUSES if _words_of(cause).search(text)]


def find(file: File, project: Project) -> list[SourceFinding]:
    """What is found in one file, in the order of its lines; one finding for one place."""
    source = Source(file, project)
    found: dict[tuple[int, int], SourceFinding] = {}
    for cause in asked(file.text):
        for claim in cause.find_in_source(source):
            # The causes come in their order: the more special one has the place.
            found.setdefault((claim.span.line, claim.span.column), _finding(cause, claim, file))
    return sorted(found.values(), key=lambda one: (one.span.line, one.span.column, one.code))


def _finding(cause: Cause, claim: SourceClaim, file: File) -> SourceFinding:
    return SourceFinding(
        code=cause.code,
        name=cause.name,
        path=file.path,
        span=claim.span,
        message=claim.message,
        label=claim.label,
        fix=claim.fix or cause.fix,
        measured=cause.measured,
        edits=claim.edits,
        is_safe=claim.is_safe,
        is_preview=cause.is_preview,
    )
