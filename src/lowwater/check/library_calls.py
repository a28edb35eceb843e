"""Calls of the functions of a library, whatever the file calls them."""

import ast
from typing import TYPE_CHECKING

from lowwater.check import library
from lowwater.check.imports import is_import_of_library
from lowwater.check.lookup import last_name
from lowwater.check.scopes import Binding, How
from lowwater.check.things import ValueKind

if TYPE_CHECKING:
    from lowwater.check.source import Source


def calls_library(source: "Source", call: ast.Call, *names: str) -> bool:
    """Whether a call may be one of these functions: `keras.utils.clear_session`."""
    if not _may_be_called(source, last_name(call.func), names):
        return False
    return any(thing.name in names and thing.scope is None for thing in source.things(call.func))


def _may_be_called(source: "Source", last: str, names: tuple[str, ...]) -> bool:
    """A look at the name alone: most calls have another one, and are not followed."""
    return last in source.renamed or any(name.rpartition(".")[2] == last for name in names)


def renamed(source: "Source") -> frozenset[str]:
    """The names that may stand for a function of another name; "" for what has no name."""
    found = {""}
    for scope in source.scopes:
        for name, bindings in scope.binds.items():
            if any(_is_renaming(one, name) for one in bindings):
                found.add(name)
        for store in scope.stores:
            if isinstance(store.target, ast.Attribute):
                found.add(store.target.attr)
    return frozenset(found)


def _is_renaming(binding: Binding, name: str) -> bool:
    """Whether a name may stand for something that has another one."""
    if binding.how is How.IMPORT:
        node, alias = binding.node
        return isinstance(node, ast.ImportFrom) and (
            alias.name != name or not is_import_of_library(node, alias)
        )
    return binding.how is not How.DEFINED


def method_of(source: "Source", call: ast.Call, kind: ValueKind | str) -> str | None:
    """The name of the method, if a call is one of such a thing: `fit` of a model."""
    for thing in source.things(call.func):
        if thing.kind is ValueKind.METHOD and thing.of is not None and thing.of.kind == kind:
            return thing.last_name
    return None


def adds_operation(source: "Source", call: ast.Call) -> bool:
    """Whether a call adds an operation to a graph, where it is not eager."""
    # A method, such as `cost.eval()` or `session.run(…)`, runs what is there.
    return any(
        one.scope is None and one.kind is ValueKind.FUNCTION and library.adds_operation(one.name)
        for one in source.things(call.func)
    )


def is_session_run(source: "Source", call: ast.Call) -> bool:
    """Whether a call runs a session: it is one, or an unknown thing called so."""
    if last_name(call.func) != "run" or not isinstance(call.func, ast.Attribute):
        return False
    kinds = source.kinds(call.func.value)
    return ValueKind.SESSION in kinds or (
        not kinds and last_name(call.func.value).lstrip("_") in ("sess", "session")
    )
