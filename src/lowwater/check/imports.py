"""What a name of an import stands for: a library, a file of the project, or a name in it."""

import ast
from typing import TYPE_CHECKING

from lowwater.check import library
from lowwater.check.project import File
from lowwater.check.scopes import Binding, SourceScope
from lowwater.check.things import UNKNOWN, Thing, Things, ValueKind

if TYPE_CHECKING:
    from lowwater.check.names import Resolver


def imported(names: "Resolver", binding: Binding, scope: SourceScope) -> Things:
    """What an import binds its name to."""
    node, alias = binding.node
    file: File = scope.file
    if isinstance(node, ast.Import):
        dotted = alias.name if alias.asname else alias.name.partition(".")[0]
        return _module_thing(names, dotted, file, 0)
    base = node.module or ""
    if not node.level and library.is_library(base):
        return (of_library(f"{base}.{alias.name}"),)
    within = _module(names, base, file, node.level)
    if within is not None:
        found = names.in_module(within, alias.name)
        if found:
            return found
    dotted = f"{base}.{alias.name}" if base else alias.name
    return _module_thing(names, dotted, file, node.level)


def _module_thing(names: "Resolver", dotted: str, file: File, level: int) -> Things:
    if not level and library.is_library(dotted):
        return (of_library(dotted),)
    found = _module(names, dotted, file, level)
    if found is None:
        return UNKNOWN if level else (Thing(ValueKind.MODULE, dotted),)
    return (Thing(ValueKind.MODULE, dotted, found.top),)


def _module(names: "Resolver", dotted: str, file: File, level: int) -> File | None:
    if not level and library.is_library(dotted):
        return None
    return names.project.module(dotted, file.path, level)


def find_in_module(names: "Resolver", file: File, name: str) -> Things:
    """What a file of the project has under a name."""
    top = file.top
    if name in top.binds:
        return names.bound(name, top)
    starred = from_stars(names, name, top)
    if starred or not file.is_package:
        return starred
    found = names.project.module(name, file.path, 1)
    return UNKNOWN if found is None else (Thing(ValueKind.MODULE, name, found.top),)


def from_stars(names: "Resolver", name: str, scope: SourceScope) -> Things:
    """What a name stands for that only a `from … import *` can bind."""
    top = scope.file.top
    for star in top.stars:
        dotted = star.module or ""
        file = _module(names, dotted, top.file, star.level)
        if file is not None:
            found = names.in_module(file, name)
            if found:
                return found
        elif library.is_library(dotted):
            return (of_library(f"{dotted}.{name}"),)
    return UNKNOWN


def of_library(dotted: str) -> Thing:
    """What a library has under a dotted name."""
    name = library.canonical(dotted)
    last = name.rpartition(".")[2]
    if last[:1].isupper():
        return Thing(ValueKind.CLASS, name)
    return Thing(ValueKind.MODULE if "." not in name else ValueKind.FUNCTION, name)


def is_import_of_library(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> bool:
    """Whether an import is one of a library, and of no file of the project."""
    if isinstance(node, ast.Import):
        return library.is_library(alias.name)
    return not node.level and library.is_library(node.module or "")
