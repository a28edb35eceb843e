"""What the names of a program stand for, across its scopes, classes and files."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from lowwater.agent.census._source.additions import Flow, Index
from lowwater.agent.census._source.scopes import ITEM, METHOD, Chain, Scope
from lowwater.agent.census._source.user_file import UserFile

_MOST_REEXPORTS = 5


class Slot(NamedTuple):
    """A variable of a scope, or an attribute of a class (of an unknown one: `owner` is None)."""

    filename: str | None
    owner: str | None
    name: str
    is_attribute: bool = False


def attribute_of(owner: Scope, name: str) -> Slot:
    """The attribute of a class and its instances."""
    return Slot(owner.filename, owner.qualname, name, is_attribute=True)


class Names:
    """All files of the user's program, searched by name; for one question, as it remembers."""

    def __init__(self, files: Mapping[str, UserFile]) -> None:
        self._files = files
        self._slots: dict[tuple[tuple[str, ...], Scope, int], Slot] = {}
        self._lineages: dict[Scope, list[Scope]] = {}
        self._sources: dict[str, dict[Slot, list[Flow]]] = {}

    def slot_of(self, names: tuple[str, ...], scope: Scope, guesses: int = 2) -> Slot:
        """The variable or attribute that these names mean in this scope."""
        asked = (names, scope, guesses)
        if asked not in self._slots:
            self._slots[asked] = self._slot_of(names, scope, guesses)
        return self._slots[asked]

    def _slot_of(self, names: tuple[str, ...], scope: Scope, guesses: int) -> Slot:
        *holder, name = names
        if not holder:
            return self._variable(name, scope)
        module = self._module_of(tuple(holder), scope)
        if module is not None:
            return self._variable(name, module)
        owner = self._class_of(tuple(holder), scope, guesses)
        return attribute_of(owner, name) if owner else Slot(None, None, name, is_attribute=True)

    def scope(self, filename: str | None, qualname: str | None) -> Scope | None:
        """The module (whose qualname is empty), class or function of that name in a file."""
        file = self._files.get(filename or "")
        return file.index.scopes.get(qualname or "") if file else None

    def scopes(self, qualname: str, filename: str | None) -> list[Scope]:
        """The modules, classes or functions of that name, in one file or in all."""
        last = qualname.rpartition(".")[2]
        is_written = last.isidentifier()
        found = (
            file.index.scopes.get(qualname)
            for file in self._files.values()
            if filename in {None, file.filename} and (not is_written or file.mentions(last))
        )
        return [scope for scope in found if scope is not None]

    def lineage(self, owner: Scope) -> list[Scope]:
        """A class and all that it is derived from, as far as the user wrote them."""
        if owner not in self._lineages:
            lineage = self._lineages[owner] = [owner]
            for scope in lineage:
                around = scope.parent or scope
                bases = [self._class_of(base.names, around, guesses=0) for base in scope.bases]
                lineage += [base for base in bases if base is not None and base not in lineage]
        return self._lineages[owner]

    def called(self, callee: Chain, scope: Scope) -> Scope | None:
        """The user's function that a call runs; for a class, its `__init__`."""
        slot = self.slot_of(callee.names, scope)
        definition = self._definition(slot)
        if definition is not None and definition.kind == "class":
            return self._method(attribute_of(definition, "__init__"))
        return self._method(slot) if slot.is_attribute else definition

    def mentioning(self, name: str) -> Iterator[Index]:
        """The files in which a name stands."""
        plain = name.removesuffix(METHOD)
        return (file.index for file in self._files.values() if file.mentions(plain))

    def flows_into(self, name: str) -> Iterator[Flow]:
        """What is assigned to this name or handed to the function of this name."""
        for index in self.mentioning(name):
            yield from index.flows_into.get(name, ())

    def _variable(self, name: str, scope: Scope) -> Slot:
        for _ in range(_MOST_REEXPORTS):
            scope = scope.binding(name)
            source = self._imported_from(name, scope)
            if source is None:
                break
            name, scope = source
        return Slot(scope.filename, scope.qualname, name, is_attribute=scope.kind == "class")

    def _imported_from(self, name: str, scope: Scope) -> tuple[str, Scope] | None:
        imported = scope.imports.get(name)
        if imported is not None and imported.attribute is not None:
            module = self._module(imported.module)
            return (imported.attribute, module) if module else None
        if name in scope.bound:
            return None
        modules = (self._module(source) for source in scope.star_imports)
        return next(((name, found) for found in modules if found and name in found.bound), None)

    def _module_of(self, names: tuple[str, ...], scope: Scope) -> Scope | None:
        imported = scope.binding(names[0]).imports.get(names[0])
        if imported is None:
            return None
        dotted = [imported.module, imported.attribute, *names[1:]]
        return self._module(".".join(part for part in dotted if part))

    def _module(self, dotted: str) -> Scope | None:
        """The user's module of that name, by the end of its path."""
        path = "/" + dotted.replace(".", "/")
        for file in self._files.values():
            stem = "/" + file.filename.replace("\\", "/").removesuffix(".py")
            if dotted and stem.removesuffix("/__init__").endswith(path):
                return file.index.scopes.get("")
        return None

    def _class_of(self, names: tuple[str, ...], scope: Scope, guesses: int) -> Scope | None:
        """The class whose attributes these names have: `self`, a class, or an instance of one."""
        if names[-1] == ITEM:
            return None
        bound = scope.binding(names[0])
        if len(names) == 1 and bound.receiver == names[0]:
            return bound.parent
        slot = self.slot_of(names, scope, guesses)
        definition = self._definition(slot)
        if definition is not None:
            return definition if definition.kind == "class" else None
        return self._class_of_value(slot, guesses) if guesses else None

    def _class_of_value(self, slot: Slot, guesses: int) -> Scope | None:
        """The class that the program gives to a slot: `agent = Agent()` or `agent: Agent`."""
        for flow in self._sources_by_slot(slot.name).get(slot, ()):
            found = self._class_of(flow.source.names, flow.source_scope, guesses - 1)
            if found is not None:
                return found
        return None

    def _sources_by_slot(self, name: str) -> dict[Slot, list[Flow]]:
        if name not in self._sources:
            by_slot = self._sources[name] = {}
            for flow in self.flows_into(name):
                if flow.argument is None and flow.target.depth == flow.source.depth == 0:
                    slot = self.slot_of(flow.target.names, flow.target_scope, guesses=0)
                    by_slot.setdefault(slot, []).append(flow)
        return self._sources[name]

    def _definition(self, slot: Slot) -> Scope | None:
        """The class or function that has this name."""
        owner = self.scope(slot.filename, slot.owner)
        return self.scope(slot.filename, owner.qualname_of(slot.name)) if owner else None

    def _method(self, slot: Slot) -> Scope | None:
        """The method of a class or its bases; of an unknown class, if only one has such a name."""
        owner = self.scope(slot.filename, slot.owner) if slot.owner else None
        if owner is not None:
            methods = [
                self._definition(attribute_of(one, slot.name)) for one in self.lineage(owner)
            ]
            return next(filter(None, methods), None)
        alike = [] if slot.name.startswith("__") else self._methods_called(slot.name)
        return alike[0] if len(alike) == 1 else None

    def _methods_called(self, name: str) -> list[Scope]:
        return [
            scope
            for index in self.mentioning(name)
            for scope in index.scopes.values()
            if scope.name == name and scope.receiver is not None
        ]
