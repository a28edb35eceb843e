"""Variables of the running calls that nothing reads again, and what lives by them alone."""

import sys
from collections.abc import Collection, Iterator
from types import FrameType
from typing import Any

from lowwater.agent.census.roots import variables_of
from lowwater.giveback.code_flow import is_function
from lowwater.giveback.frames import calling_frame
from lowwater.giveback.holding import held_by_nobody_else
from lowwater.giveback.liveness import only_asks, read_later, reads_attribute
from lowwater.giveback.living import loaded
from lowwater.model.user_code import is_users

_WITH_HISTORY = ("keras.callbacks", "tf_keras.callbacks")


def variables_in(frame: FrameType) -> dict[str, Any]:
    """The variables of a function, of a class body or of a module."""
    return variables_of(frame) if is_function(frame.f_code) else dict(frame.f_locals)


def read_from_here(frame: FrameType, names: Collection[str]) -> dict[str, str]:
    """Of these variables, those by which the program may still come to a model, and where."""
    found = read_later(frame, names)
    for name in _histories(frame, found):
        del found[name]
    return found


def reads_by_variable() -> Iterator[tuple[FrameType, dict[str, str]]]:
    """The calls that wait for us, the innermost first, and which variables each still reads."""
    for frame in _callers():
        names = {*variables_in(frame)}
        if is_function(frame.f_code) or not _is_interactive():
            yield frame, _read_in_earnest(frame, names)
        else:
            # Whoever sits at the prompt may read any of them, but no line says so.
            yield frame, dict.fromkeys(names, "")


def reads_now() -> dict[tuple[str, int], str]:
    """Why the program still wants a value, by name and identity: `read later, train.py:40`."""
    return {
        (name, id(value)): read[name]
        for frame, read in reads_by_variable()
        for name, value in variables_in(frame).items()
        if read.get(name)
    }


def unread_now() -> set[tuple[str, int]]:
    """The variables of the calls that wait for us which nothing reads again, by name and value."""
    return {
        (name, id(value))
        for frame, read in reads_by_variable()
        for name, value in variables_in(frame).items()
        if name not in read
    }


def held_by_unread_variables() -> set[int]:
    """The identity of what goes by itself when the calls that wait for us have returned.

    Somebody has a reference to it, but nobody who could use it.
    """
    variables: dict[str, Any] = {}
    cells: list[str] = []
    found: Any = None
    for depth, (frame, read) in enumerate(reads_by_variable()):
        unread = {name: f"{depth} {name}" for name in variables_in(frame) if name not in read}
        cells += [key for name, key in unread.items() if name in frame.f_code.co_cellvars]
        found = variables_in(frame).items()
        variables |= {unread[name]: value for name, value in found if name in unread}
    del found  # the sum would take it for somebody else's reference
    return {*(held_by_nobody_else(variables, cells) or ())}


def _read_in_earnest(frame: FrameType, names: Collection[str]) -> dict[str, str]:
    """All that are read again, but for a `History` that is only asked for its numbers."""
    found = read_later(frame, names)
    for name in _histories(frame, found):
        if only_asks(frame, name):
            del found[name]
    return found


def _callers() -> list[FrameType]:
    """The frames around us as far as there are some of the program's."""
    found: list[FrameType] = []
    frame = calling_frame()
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    while found and not is_users(found[-1].f_code.co_filename):
        found.pop()
    return found


def _is_interactive() -> bool:
    return hasattr(sys, "ps1") or bool(sys.flags.inspect)


def _histories(frame: FrameType, names: Collection[str]) -> list[str]:
    """Those that hold what `fit` returns, if the program asks nothing for its `model`.

    A `History` refers to the model, and is read for its numbers, which are not emptied.
    """
    kinds = {id(loaded(module, "History")) for module in _WITH_HISTORY} - {id(None)}
    variables = variables_in(frame) if kinds else {}
    found = [name for name in names if id(type(variables.get(name))) in kinds]
    return [] if found and reads_attribute(frame, "model") else found
