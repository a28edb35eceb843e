"""What is checked and shown: `[tool.lowwater.check]` of pyproject.toml, and the command line."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from lowwater.check.walk import is_excluded
from lowwater.errors import UsageError

_TABLE: Final = "[tool.lowwater.check]"
_KEYS: Final = ("select", "ignore", "exclude", "per-file-ignores", "preview")
_CODE: Final = re.compile(r"LW\d{0,3}")


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """Codes may be cut short: `LW2` stands for all of 2xx."""

    select: tuple[str, ...] = ("LW",)
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    preview: bool = False
    root: str = "."

    def selects(self, code: str) -> bool:
        """Whether findings of this code are shown anywhere."""
        return code.startswith(self.select) and not (self.ignore and code.startswith(self.ignore))

    def asks(self, code: str) -> bool:
        """Whether this code is looked for, so that a comment which allows it may be idle."""
        from lowwater.check.words import PREVIEWS

        return self.selects(code) and (self.preview or code not in PREVIEWS)

    def wants(self, code: str, path: str) -> bool:
        """Whether findings of this code in this file are shown."""
        if not self.selects(code):
            return False
        relative = os.path.relpath(path, self.root)
        return not any(
            code.startswith(codes) and is_excluded(relative, (pattern,))
            for pattern, codes in self.per_file_ignores
        )


def options_from(folder: str) -> CheckOptions:
    """The options of the nearest pyproject.toml, in this folder or above it."""
    path = _nearest(os.path.abspath(folder))
    if path is None:
        return CheckOptions(root=os.path.abspath(folder))
    table = _table(path)
    unknown = sorted(set(table) - set(_KEYS))
    if unknown:
        raise UsageError(
            f"unknown setting in {_TABLE}",
            received=unknown[0],
            advice=f"one of {', '.join(_KEYS)}",
        )
    return _options(table, os.path.dirname(path))


def _nearest(folder: str) -> str | None:
    while True:
        path = os.path.join(folder, "pyproject.toml")
        if os.path.isfile(path):
            return path
        outer = os.path.dirname(folder)
        if outer == folder:
            return None
        folder = outer


def _table(path: str) -> Mapping[str, Any]:
    import tomllib

    try:
        with open(path, "rb") as stream:
            read: Any = tomllib.load(stream)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path}", received=str(error)) from error
    for name in ("tool", "lowwater", "check"):
        read = read.get(name, {}) if isinstance(read, dict) else {}
    return read if isinstance(read, dict) else {}


def _options(table: Mapping[str, Any], root: str) -> CheckOptions:
    found = CheckOptions(root=root)
    if "select" in table:
        found = replace(found, select=codes("select", table["select"]))
    by_file = table.get("per-file-ignores", {})
    if not isinstance(by_file, dict):
        raise UsageError(f"per-file-ignores of {_TABLE} must be a table", received=repr(by_file))
    if not isinstance(table.get("preview", False), bool):
        raise UsageError(f"preview of {_TABLE} must be true or false")
    return replace(
        found,
        ignore=codes("ignore", table.get("ignore", [])),
        exclude=_texts("exclude", table.get("exclude", [])),
        per_file_ignores=tuple(
            (pattern, codes("per-file-ignores", given)) for pattern, given in by_file.items()
        ),
        preview=table.get("preview", False),
    )


def _texts(key: str, given: object) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise UsageError(f"{key} of {_TABLE} must be a list of strings", received=repr(given))
    return tuple(given)


def codes(key: str, given: object) -> tuple[str, ...]:
    """Codes, or the beginning of codes."""
    for one in _texts(key, given):
        if not _CODE.fullmatch(one):
            raise UsageError(f"{key}: no such code", received=one, advice="lowwater explain")
    return _texts(key, given)
