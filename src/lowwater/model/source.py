"""What reading the source has found: the words of `lowwater check`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceSpan:
    """A piece of a file: lines and columns count from 1, and the end is behind the last sign."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Edit:
    """Text that takes the place of a piece of a file."""

    span: SourceSpan
    text: str


@dataclass(frozen=True, slots=True)
class SourceClaim:
    """What a cause tells of one place in the source.

    `label` stands under the code, and says what is kept there. `fix` is given only where the case
    has a better one than the cause in general. `edits` carry the fix out; they are safe where the
    program computes the same with them.
    """

    span: SourceSpan
    message: str
    label: str = ""
    fix: str | None = None
    edits: tuple[Edit, ...] = ()
    is_safe: bool = False


@dataclass(frozen=True, slots=True)
class SourceFinding:
    """One pitfall in one place of one file. `cell` is set in a notebook, and lines count in it."""

    code: str
    name: str
    path: str
    span: SourceSpan
    message: str
    label: str
    fix: str
    measured: str = ""
    edits: tuple[Edit, ...] = ()
    is_safe: bool = False
    is_preview: bool = False
    # What a run has shown of it; empty where none was asked.
    in_run: str = ""
    cell: int | None = None
    # The line of the code, and the one before it where that is not empty.
    code_lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unchecked:
    """A file that could not be checked, and why."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class SourceReport:
    """All that one `lowwater check` has found."""

    findings: tuple[SourceFinding, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    files: int = 0
    fixed: int = 0
    only_in_run: tuple[str, ...] = ()
