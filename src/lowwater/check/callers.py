"""Where a function of a file is called."""

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from lowwater.check.project import File
from lowwater.check.scopes import SourceScope
from lowwater.check.things import Thing, ValueKind

if TYPE_CHECKING:
    from lowwater.check.names import Resolver

_MOST_CALLERS: Final = 20


def find_callers(names: "Resolver", function: SourceScope) -> Iterator[ast.Call]:
    """The calls of a function in its file, as far as the name of what is called says."""
    is_init = function.name == "__init__"
    wanted = function.outer if is_init and function.outer is not None else function
    by_name = _calls_by_name(function.file)
    calls = by_name.get(wanted.name, [])
    if function.name == "__call__" and function.outer is not None:
        # `Scorer(scale)(x)`: an object that is called where it is made.
        yield from (
            call
            for call in by_name.get("", [])[:_MOST_CALLERS]
            if any(thing.scope is function.outer for thing in names.things(call.func))
        )
        return
    for call in calls[:_MOST_CALLERS]:
        if any(_is_of(thing, wanted) for thing in names.things(call.func)):
            yield call


def _calls_by_name(file: File) -> dict[str, list[ast.Call]]:
    found = file.names.get("calls")
    if found is None:
        found = file.names["calls"] = {}
        for scope in file.top.inside():
            for call in scope.calls:
                func = call.func
                name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
                found.setdefault(name, []).append(call)
    return found


def _is_of(thing: Thing, wanted: SourceScope) -> bool:
    """Whether it is this function or class, wrapped or not."""
    return thing.scope is wanted and thing.kind in (
        ValueKind.FUNCTION, ValueKind.CLASS, ValueKind.METHOD, ValueKind.TRACED,
    )  # fmt: skip
