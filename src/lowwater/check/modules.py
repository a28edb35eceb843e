"""Finds the file that an import means: beside the importer, above it, or in a given folder."""

import os
from collections.abc import Iterable


class ProjectModules:
    """The files of a project on disk, by the names that imports give them.

    What was looked for is kept as long as this is: a look at a project takes seconds.
    """

    def __init__(self, roots: Iterable[str]) -> None:
        """`roots` are folders to look in besides those around the importing file."""
        self._roots = tuple(dict.fromkeys(os.path.abspath(root) for root in roots))
        self._is_file: dict[str, bool] = {}
        self._above: dict[str, str] = {}

    def __reduce__(self) -> tuple[object, ...]:
        return ProjectModules, (self._roots,)

    def find(self, dotted: str, importer: str, level: int) -> str | None:
        """The path of a module, or None where no file of the project is meant."""
        parts = dotted.split(".") if dotted else []
        folder = os.path.dirname(os.path.abspath(importer))
        if level:
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            return self._module_file(folder, parts)
        for start in dict.fromkeys((folder, self._above_package(folder), *self._roots)):
            found = self._module_file(start, parts)
            if found is not None:
                return found
        return None

    def _above_package(self, folder: str) -> str:
        """The folder that the outermost package of a folder is in."""
        if folder not in self._above:
            above = folder
            while self._exists(os.path.join(above, "__init__.py")):
                outer = os.path.dirname(above)
                if outer == above:
                    break
                above = outer
            self._above[folder] = above
        return self._above[folder]

    def _module_file(self, folder: str, parts: list[str]) -> str | None:
        base = os.path.join(folder, *parts)
        package = os.path.join(base, "__init__.py")
        if self._exists(package):
            return package
        return f"{base}.py" if parts and self._exists(f"{base}.py") else None

    def _exists(self, path: str) -> bool:
        if path not in self._is_file:
            self._is_file[path] = os.path.isfile(path)
        return self._is_file[path]
