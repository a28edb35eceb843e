"""One file from its bytes to its findings; whatever is in it, the rest of the files goes on."""

import io
import re
import tokenize
import warnings
from dataclasses import dataclass, replace

from lowwater.check import judge
from lowwater.check.project import Project
from lowwater.model.source import SourceFinding, Unchecked

# Longer than any file that somebody wrote: generated, and not worth minutes.
LARGEST_BYTES = 10 * 1024 * 1024
_LONGEST_LINE = 4096


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """What was found in one file, or why it was not checked."""

    path: str
    findings: tuple[SourceFinding, ...] = ()
    unchecked: Unchecked | None = None


def check(path: str, data: bytes, project: Project) -> CheckedFile:
    """The findings in one file."""
    try:
        text = decoded(data)
        with warnings.catch_warnings():
            # An odd escape in a string is not our business.
            warnings.simplefilter("ignore")
            file = project.add(path, text)
        found = judge.find(file, project)
    except SyntaxError as error:
        line = f" (line {error.lineno})" if error.lineno else ""
        return _unchecked(path, f"not valid Python: {error.msg}{line}")
    except (UnicodeDecodeError, LookupError) as error:
        return _unchecked(path, f"not readable as text: {error}")
    except ValueError as error:
        return _unchecked(path, f"not valid Python: {error}")
    except (RecursionError, MemoryError):
        return _unchecked(path, "too deeply nested")
    return CheckedFile(path, tuple(_with_lines(found, text)))


def _unchecked(path: str, why: str) -> CheckedFile:
    return CheckedFile(path, unchecked=Unchecked(path, why))


def decoded(data: bytes) -> str:
    """The text of a Python file, in the encoding that it declares."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return data.decode(encoding)


def _with_lines(found: list[SourceFinding], text: str) -> list[SourceFinding]:
    lines = re.split("\r\n|\r|\n", text) if found else []
    return [replace(one, code_lines=lines_of(lines, one.span.line)) for one in found]


def lines_of(lines: list[str], number: int) -> tuple[str, ...]:
    """The line of this number, after the one before it where that is not empty."""
    shown = [line[:_LONGEST_LINE] for line in lines[max(0, number - 2) : number]]
    return tuple(shown[1:] if len(shown) > 1 and not shown[0].strip() else shown)
