"""The files of the project as modules: each parsed once, when somebody asks."""

import ast
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field

from lowwater.check.scopes import SourceScope, scan

UNREADABLE = (OSError, SyntaxError, ValueError, LookupError, RecursionError, MemoryError)


@dataclass(eq=False, slots=True)
class File:
    """One parsed file. `dotted` is what its package calls it, as far as that is known."""

    path: str
    text: str
    top: SourceScope = field(init=False)
    is_package: bool = False
    # What was looked up in it, kept for the next who asks.
    names: dict[str, dict[str, list[ast.Call]]] = field(default_factory=dict)


class Project:
    """Finds the module that an import in a file of the project means."""

    def __init__(
        self,
        find: Callable[[str, str, int], str | None],
        read: Callable[[str], str],
        parsed: dict[str, File | None] | None = None,
    ) -> None:
        """`find(dotted, importer, level)` gives a path, or None where it is not the project's.

        `parsed` are files that were parsed for another one; what is asked is asked for this one.
        """
        self._find, self._read = find, read
        self._files: dict[str, File | None] = {} if parsed is None else parsed
        # What was asked, by whom: the findings in a file depend on the answers.
        self.asked: dict[tuple[str, str, int], str | None] = {}

    def add(self, path: str, text: str) -> File:
        """Parse a file; raises SyntaxError or ValueError where that cannot be done."""
        file = parsed(path, text)
        self._files[path] = file
        return file

    def module(self, dotted: str, importer: str, level: int) -> File | None:
        """The file that `import dotted` means there; None where it is not of the project."""
        key = (dotted, importer, level)
        if key not in self.asked:
            self.asked[key] = self._find(dotted, importer, level)
        path = self.asked[key]
        return None if path is None else self._file(path)

    def _file(self, path: str) -> File | None:
        if path not in self._files:
            self._files[path] = None
            # A module that cannot be read tells nothing about the names in it.
            with contextlib.suppress(*UNREADABLE):
                self.add(path, self._read(path))
        return self._files[path]


def parsed(path: str, text: str) -> File:
    """One file on its own."""
    file = File(path, text, is_package=path.endswith("__init__.py"))
    file.top = scan(ast.parse(text), file)
    return file
