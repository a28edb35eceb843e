"""A notebook as one piece of Python: its code cells, without what only IPython understands."""

import ast
import json
import re
import warnings
from dataclasses import dataclass
from typing import Any, Final

# Cells whose first line is one of these hold Python below it; those of another magic do not.
_PYTHON_MAGICS: Final = frozenset({"time", "timeit", "capture", "prun", "memit", "mprun", "debug"})
# As many cells as this are named where they cannot be read.
_MOST_TOLD: Final = 3
_LINE_MAGIC: Final = re.compile(r"^(\s*)(?:[%!?]|\?\?)")
_ASSIGNED_MAGIC: Final = re.compile(r"^(\s*[\w.\[\]'\", ]+=\s*)[%!](?!=)")
_HELP: Final = re.compile(r"^(\s*)[\w.]+\?{1,2}\s*$")


@dataclass(frozen=True, slots=True)
class CellLine:
    """Where a line is from: its cell, its number there, and the blanks taken off its start."""

    cell: int
    line: int
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Notebook:
    """The text of all code cells, where each of its lines is from, and why a cell is left out."""

    text: str
    places: tuple[CellLine, ...]
    left_out: str = ""


class NoNotebook(ValueError):
    """A file ends in .ipynb and is not a notebook."""


def read(data: bytes) -> Notebook:
    """The code cells, one below the other; cells count from 1, text cells included."""
    lines: list[str] = []
    places: list[CellLine] = []
    left_out: list[str] = []
    for number, cell in enumerate(_cells(data), start=1):
        if cell.get("cell_type") != "code":
            continue
        found = python_of(_source(cell))
        if found.why_not:
            left_out.append(f"cell {number}: {found.why_not}")
        lines += found.lines
        places += [CellLine(number, at + 1, found.indent) for at in range(len(found.lines))]
    return Notebook("\n".join(lines) + "\n", tuple(places), "; ".join(left_out[:_MOST_TOLD]))


def _cells(data: bytes) -> list[dict[str, Any]]:
    try:
        read_ = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise NoNotebook("not a notebook: no JSON") from error
    sheets = read_.get("worksheets") if isinstance(read_, dict) else None
    holder = sheets[0] if isinstance(sheets, list) and sheets else read_
    cells = holder.get("cells") if isinstance(holder, dict) else None
    if not isinstance(cells, list):
        raise NoNotebook("not a notebook: it has no cells")
    return [cell for cell in cells if isinstance(cell, dict)]


def _source(cell: dict[str, Any]) -> str:
    given = cell.get("source", cell.get("input", ""))
    if isinstance(given, list):
        given = "".join(part for part in given if isinstance(part, str))
    return given if isinstance(given, str) else ""


@dataclass(frozen=True, slots=True)
class CellPython:
    """What a cell is as Python: the same number of lines."""

    lines: list[str]
    indent: int = 0
    why_not: str = ""


def python_of(source: str) -> CellPython:
    """The Python of a cell; what only IPython understands becomes lines that do nothing."""
    lines = re.split("\r\n|\r|\n", source)
    if lines[0].lstrip().startswith("%%"):
        magic = lines[0].lstrip()[2:].split(" ")[0].strip()
        if magic not in _PYTHON_MAGICS:
            return CellPython([""] * len(lines))
        lines[0] = ""
    lines, indent = _dedented(lines)
    return _parsed(lines, indent)


def _dedented(lines: list[str]) -> tuple[list[str], int]:
    """IPython takes the blanks before the first line off all lines."""
    first = next((line for line in lines if line.strip()), "")
    blanks = first[: len(first) - len(first.lstrip())]
    if not blanks:
        return lines, 0
    return [line.removeprefix(blanks) for line in lines], len(blanks)


def _parsed(lines: list[str], indent: int) -> CellPython:
    """The lines, with a magic replaced wherever it is what stops the parser.

    A line of a text or of an expression may look like one: `% (a, b)`.
    """
    why_not = ""
    for _ in range(len(lines) + 1):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ast.parse("\n".join(lines))
        except SyntaxError as error:
            why_not = f"not valid Python: {error.msg} (line {error.lineno})"
            replaced = _without_magic(lines, (error.lineno or 0) - 1)
            if replaced is None:
                break
            lines = replaced
        except (ValueError, RecursionError, MemoryError):
            why_not = "not valid Python"
            break
        else:
            return CellPython(lines, indent)
    return CellPython([""] * len(lines), why_not=why_not)


def _without_magic(lines: list[str], at: int) -> list[str] | None:
    """The lines without the magic at this one, or else without the first; None without any."""
    places = [number for number, line in enumerate(lines) if _replaced(line) is not None]
    if not places:
        return None
    first = at if at in places else places[0]
    found = list(lines)
    goes_on = found[first].rstrip().endswith("\\")
    found[first] = _replaced(found[first]) or ""
    while goes_on and first + 1 < len(found):
        first += 1
        goes_on = found[first].rstrip().endswith("\\")
        found[first] = ""
    return found


def _replaced(line: str) -> str | None:
    """A line of Python for a magic; None for a line that is none."""
    match = _LINE_MAGIC.match(line) or _HELP.match(line)
    if match:
        return f"{match[1]}pass"
    assigned = _ASSIGNED_MAGIC.match(line)
    return f"{assigned[1]}None" if assigned else None
