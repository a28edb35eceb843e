"""Finds the file that an import means: beside the importer, above it, or in a given folder."""

import os
from collections.abc import Iterable
from functools import cache


class ProjectModules:
    """The files of a project on disk, by the names that imports give them."""

    def __init__(self, roots: Iterable[str]) -> None:
        """`roots` are folders to look in besides those around the importing file."""
        self._roots = tuple(dict.fromkeys(os.path.abspath(root) for root in roots))

    def find(self, dotted: str, importer: str, level: int) -> str | None:
        """The path of a module, or None where no file of the project is meant."""
        parts = dotted.split(".") if dotted else []
        folder = os.path.dirname(os.path.abspath(importer))
        if level:
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            return _module_file(folder, parts)
        for start in dict.fromkeys((folder, _above_package(folder), *self._roots)):
            found = _module_file(start, parts)
            if found is not None:
                return found
        return None


@cache
def _above_package(folder: str) -> str:
    """The folder that the outermost package of a folder is in."""
    while os.path.exists(os.path.join(folder, "__init__.py")):
        outer = os.path.dirname(folder)
        if outer == folder:
            break
        folder = outer
    return folder


def _module_file(folder: str, parts: list[str]) -> str | None:
    base = os.path.join(folder, *parts)
    package = os.path.join(base, "__init__.py")
    if _is_file(package):
        return package
    return f"{base}.py" if parts and _is_file(f"{base}.py") else None


@cache
def _is_file(path: str) -> bool:
    return os.path.isfile(path)
