"""Several processes, and what they run."""

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from lowwater.check.lookup import last_name
from lowwater.check.scopes import SourceScope

if TYPE_CHECKING:
    from lowwater.check.source import Source

# What hands a function to the processes of a pool.
_SENDING: Final = (
    "map", "imap", "imap_unordered", "starmap", "apply", "apply_async", "map_async",
    "starmap_async", "submit",
)  # fmt: skip


def starts_processes(source: "Source", call: ast.Call) -> bool:
    """Whether a call starts several processes at a time: not `Pool(1)`, not one `Process`."""
    name = last_name(call.func)
    if name == "Process":
        return bool(source.rounds(call)) or len(list(source.calls_of("Process"))) > 1
    given = [*call.args[:1], *(one.value for one in call.keywords)]
    return not any(isinstance(one, ast.Constant) and one.value == 1 for one in given)


def workers_of(source: "Source", call: ast.Call) -> Iterator[SourceScope]:
    """The functions of the file that the processes run."""
    given = [one.value for one in call.keywords if one.arg in ("target", "initializer")]
    if last_name(call.func) != "Process":
        for sent in source.calls_of(*_SENDING):
            given += sent.args[:1]
    for one in given:
        for thing in source.things(one):
            if thing.scope is not None and thing.scope.is_function:
                yield thing.scope
