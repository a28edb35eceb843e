"""A notebook as one piece of Python: its code cells, without what only IPython understands."""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

# Cells whose first line is one of these hold Python below it; those of another magic do not.
_PYTHON_MAGICS: Final = frozenset({"time", "timeit", "capture", "prun", "memit", "mprun", "debug"})
_LINE_MAGIC: Final = re.compile(r"^(\s*)(?:[%!?]|\?\?)")
_ASSIGNED_MAGIC: Final = re.compile(r"^(\s*[\w.\[\]'\", ]+=\s*)[%!](?!=)")
_HELP: Final = re.compile(r"^(\s*)[\w.]+\?{1,2}\s*$")


@dataclass(frozen=True, slots=True)
class Notebook:
    """The text of all code cells, and the cell and line that each of its lines is from."""

    text: str
    places: tuple[tuple[int, int], ...]


class NoNotebook(ValueError):
    """A file ends in .ipynb and is not a notebook."""


def read(data: bytes) -> Notebook:
    """The code cells, one below the other; cells count from 1, text cells included."""
    lines: list[str] = []
    places: list[tuple[int, int]] = []
    for number, cell in enumerate(_cells(data), start=1):
        if cell.get("cell_type") != "code":
            continue
        for at, line in enumerate(python_lines(_source(cell)), start=1):
            lines.append(line)
            places.append((number, at))
    return Notebook("\n".join(lines) + "\n", tuple(places))


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


def python_lines(source: str) -> list[str]:
    """The lines of a cell; a magic becomes a line of Python that does nothing."""
    lines = re.split("\r\n|\r|\n", source)
    if lines[0].lstrip().startswith("%%"):
        magic = lines[0].lstrip()[2:].split(" ")[0].strip()
        if magic not in _PYTHON_MAGICS:
            return [""] * len(lines)
        lines[0] = ""
    return _without_magics(lines)


def _without_magics(lines: list[str]) -> list[str]:
    found, goes_on = [], False
    for line in lines:
        if goes_on:
            goes_on = line.rstrip().endswith("\\")
            found.append("")
            continue
        match = _LINE_MAGIC.match(line) or _HELP.match(line)
        assigned = _ASSIGNED_MAGIC.match(line)
        if match:
            goes_on = line.rstrip().endswith("\\")
            found.append(f"{match[1]}pass")
        else:
            found.append(f"{assigned[1]}None" if assigned else line)
    return found
