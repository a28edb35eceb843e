"""What every cause has: a code, a page of documentation, and when it is to blame."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from lowwater.causes.upstream import KnownLeak
from lowwater.model import Evidence, Holder, Kind

if TYPE_CHECKING:
    # `run` loads every cause and reads no source: what reads it is loaded by `check` alone.
    from collections.abc import Iterator

    from lowwater.check.source import Source
    from lowwater.model.source import SourceClaim


@dataclass(frozen=True, slots=True)
class Claim:
    """What a cause tells of one case, before its share of the growth is known.

    `fix` is given only where the case has a better one than the cause in general, and `issue`
    only where this form of a library's leak has a report of its own. `most_bytes` is what it can
    have taken at the most, where that is known: the rest of the growth is somebody else's.
    """

    message: str
    where: str | None = None
    holder: str | None = None
    fix: str | None = None
    issue: str | None = None
    most_bytes: int | None = None


class Cause:
    """One known way for memory to grow; the docstring of the subclass is its documentation page.

    A cause answers one or more of four questions about a run: does this path belong to you, do you
    explain growth that no path accounts for, do you hold on to what others were blamed for, and do
    you explain a verdict that is no leak. And one about source that was not run: where is it.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    fix: ClassVar[str]
    # The leak of a library that this is; None where the program itself is to be mended.
    known: ClassVar[KnownLeak | None] = None
    # Most of its memory belongs to C++ objects, whose bytes no Python object tells.
    is_mostly_native: ClassVar[bool] = False
    # The verdict, no leak, that it stands for: there it is told before all that is true as well.
    explains: ClassVar[Kind | None] = None
    # The source side: a file is searched for it only if one of these words is in reach, in the file
    # or in what it imports, and one of the words beside. Without words there is no such side.
    words: ClassVar[tuple[str, ...]] = ()
    words_beside: ClassVar[tuple[str, ...]] = ()
    # What its specimen keeps per round, as `lowwater check` says it; empty where nothing is kept.
    measured: ClassVar[str] = ""
    # Its findings are shown with `--preview` only, until 95 % of them are right on foreign code.
    is_preview: ClassVar[bool] = False

    def claims(self, holder: Holder, evidence: Evidence) -> bool:  # noqa: ARG002 - for subclasses
        """Whether what grew on this path is this cause's doing."""
        return False

    def account(self, holder: Holder, evidence: Evidence) -> Claim:
        """What there is to tell of a path that was claimed."""
        raise NotImplementedError

    def in_rest(self, rest_bytes: int, evidence: Evidence) -> Claim | None:  # noqa: ARG002
        """What there is to tell of growth that no path accounts for; None if it is another's."""
        return None

    def beside(self, codes: frozenset[str], evidence: Evidence) -> Claim | None:  # noqa: ARG002
        """What there is to tell if it would keep the same memory after these were mended."""
        return None

    def in_verdict(self, evidence: Evidence) -> Claim | None:  # noqa: ARG002
        """What explains a verdict that is no leak; None if this does not."""
        return None

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":  # noqa: ARG002
        """All places of one file where it can be seen."""
        yield from ()
