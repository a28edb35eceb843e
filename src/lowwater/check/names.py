"""Names are followed: what an expression may stand for, through assignments, classes and files.

The answers are found in the files beside this one, and kept here: `expressions` reads what is
written, `bindings` what a name was given, `attributes`, `called` and `imports` what they lead to.
"""

import ast
from collections.abc import Iterable
from typing import Final

from lowwater.check import attributes, called, imports, library
from lowwater.check.bindings import MOST_BINDINGS, of_bindings
from lowwater.check.callers import find_callers
from lowwater.check.expressions import READERS
from lowwater.check.lookup import argument, binder
from lowwater.check.project import File, Project
from lowwater.check.scopes import Binding, How, SourceScope
from lowwater.check.things import UNKNOWN, Thing, Things, ValueKind, unique

# How many calls are followed one into the other.
_DEEPEST: Final = 40


class Resolver:
    """Answers what expressions of the project stand for; every answer is kept."""

    def __init__(self, project: Project) -> None:
        """Nothing is followed until somebody asks."""
        self.project = project
        self._known: dict[ast.AST, Things] = {}
        self._fields: dict[tuple[SourceScope, str], list[Binding]] = {}
        self._bases: dict[SourceScope, Things] = {}
        self._callers: dict[SourceScope, list[ast.Call]] = {}
        self._module_names: dict[tuple[str, str], Things] = {}
        self._depth = 0

    # -- expressions

    def things(self, node: ast.expr | None) -> Things:
        """All that an expression may stand for; empty where nothing is known."""
        if node is None:
            return UNKNOWN
        found = self._known.get(node)
        if found is None:
            # Whoever asks for this again on the way finds nothing: a cycle adds nothing.
            self._known[node] = UNKNOWN
            if self._depth >= _DEEPEST:
                del self._known[node]
                return UNKNOWN
            self._depth += 1
            try:
                found = self._known[node] = unique(self._read(node))
            finally:
                self._depth -= 1
        return found

    def kinds(self, node: ast.expr | None) -> frozenset[ValueKind]:
        """The kinds of all that an expression may stand for."""
        return frozenset(thing.kind for thing in self.things(node))

    def _read(self, node: ast.expr) -> Iterable[Thing]:
        reader = READERS.get(node.__class__)
        return UNKNOWN if reader is None else reader(self, node)

    def one_deeper(self, found: Iterable[Thing]) -> Things:
        """What is found by following one more call; nothing where that are too many."""
        if self._depth >= _DEEPEST:
            return UNKNOWN
        self._depth += 1
        try:
            return unique(found)
        finally:
            self._depth -= 1

    def called(self, thing: Thing, node: ast.Call) -> Iterable[Thing]:
        """What a call of a thing gives."""
        return called.called(self, thing, node)

    # -- names

    def named(self, name: str, scope: SourceScope) -> Things:
        """What a name stands for in a scope."""
        holder = binder(name, scope)
        if holder is None:
            starred = imports.from_stars(self, name, scope)
            return starred or (Thing(ValueKind.FUNCTION, f"builtins.{name}"),)
        return self.bound(name, holder)

    def bound(self, name: str, holder: SourceScope) -> Things:
        """What a name stands for in the scope that binds it."""
        return of_bindings(self, holder.binds[name][-MOST_BINDINGS:], holder)

    def in_module(self, file: File, name: str) -> Things:
        """What a file of the project has under a name."""
        key = (file.path, name)
        if key not in self._module_names:
            # ProjectModules that import a name from each other in a circle add nothing.
            self._module_names[key] = UNKNOWN
            self._module_names[key] = imports.find_in_module(self, file, name)
        return self._module_names[key]

    def attribute(self, owner: Thing, name: str) -> Iterable[Thing]:
        """What `owner.name` stands for."""
        return attributes.attribute(self, owner, name)

    def field_bindings(self, cls: SourceScope, name: str) -> list[Binding]:
        """All places that give `self.name` a value, in the class and the project's bases of it."""
        key = (cls, name)
        if key not in self._fields:
            self._fields[key] = []
            found = [*attributes.own_fields(cls, name)]
            if not any(one.how is How.DEFINED for one in found):
                for base in self.project_bases(cls):
                    found += attributes.own_fields(base, name)
                    if any(one.how is How.DEFINED for one in found):
                        break
            self._fields[key] = found
        return self._fields[key]

    # -- classes

    def bases(self, cls: SourceScope) -> Things:
        """All classes that a class of the project descends from, as far as they are known."""
        if cls not in self._bases:
            self._bases[cls] = UNKNOWN
            found: list[Thing] = []
            assert isinstance(cls.node, ast.ClassDef)
            for base in cls.node.bases:
                for thing in self.things(base):
                    found.append(thing)
                    if thing.scope is not None and thing.scope.is_class:
                        found += self.bases(thing.scope)
            self._bases[cls] = tuple(found)
        return self._bases[cls]

    def project_bases(self, cls: SourceScope) -> list[SourceScope]:
        """Those of its bases that are written in the project."""
        return [base.scope for base in self.bases(cls) if base.scope is not None]

    def instance(self, cls: SourceScope) -> Thing:
        """An object of a class of the project."""
        for base in self.bases(cls):
            kind = library.base_kind(base.name) if base.scope is None else None
            if kind is not None:
                return Thing(kind, cls.name, cls)
        return Thing(ValueKind.INSTANCE, cls.name, cls)

    # -- calls of a function

    def given(self, parameter: ast.arg, function: SourceScope) -> Things:
        """What the calls in the same file give for a parameter."""
        if parameter not in self._known:
            self._known[parameter] = UNKNOWN
            found = [
                thing
                for call in self.calls_of_function(function)
                for thing in self.things(argument(call, function, parameter.arg))
            ]
            self._known[parameter] = unique(found)
        return self._known[parameter]

    def calls_of_function(self, function: SourceScope) -> list[ast.Call]:
        """The calls of a function or method in its own file; of `__init__`, those of its class."""
        if function not in self._callers:
            self._callers[function] = []
            self._callers[function] = [*find_callers(self, function)]
        return self._callers[function]
