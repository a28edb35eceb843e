"""One file: every cause that may be in it is asked whether it is."""

from collections.abc import Collection

from lowwater.causes.catalogue import Cause
from lowwater.check.project import File, Project
from lowwater.check.source import Source
from lowwater.check.words import SOURCE_CAUSES, own_codes
from lowwater.model.source import SourceClaim, SourceFinding


def find(file: File, project: Project, codes: Collection[str] | None = None) -> list[SourceFinding]:
    """What is found in one file, in the order of its lines; one finding for one place.

    Only the causes of these codes are asked; without any, those of which the file has a word.
    """
    asked = own_codes(file.text.encode(errors="replace")) if codes is None else codes
    source = Source(file, project)
    found: dict[tuple[int, int], SourceFinding] = {}
    for cause in SOURCE_CAUSES:
        if cause.code not in asked:
            continue
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
