"""Which variables a program may still read: told by its bytecode, before it does so.

From a point of the code on all ways are followed. A variable counts as read if on some way it is
loaded before it is bound anew or deleted. Whatever cannot be told counts as read: a model that
is emptied too early is worse than one that waits.
"""

import sys
from collections.abc import Collection, Iterator, Mapping
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

from lowwater.agent.census.roots import namespace
from lowwater.giveback.code_flow import CodeFlow, is_function
from lowwater.giveback.notebook_cell import read_in_rest_of_cell


def read_later(frame: FrameType, names: Collection[str]) -> dict[str, str]:
    """Of these variables of a frame, those that may be read from here on, and where."""
    code = frame.f_code
    found = _shared(code, names) if is_function(code) else _read_by_others(frame, names)
    return found | CodeFlow(code).reads_after(frame.f_lasti, {*names} - found.keys())


def reads_attribute(frame: FrameType, name: str) -> bool:
    """Whether the code of a frame, or a function in it, asks any object for this attribute."""
    return any(CodeFlow(code).reads_attribute(name) for code in _nested(frame.f_code))


def only_asks(frame: FrameType, name: str) -> bool:
    """Whether a variable is only asked for attributes, so that nobody else comes to its value."""
    code = frame.f_code
    others = {} if is_function(code) else _read_by_others(frame, {name})
    return not others and name not in code.co_cellvars and CodeFlow(code).only_asks(name)


def _shared(code: CodeType, names: Collection[str]) -> dict[str, str]:
    """What a function shares with the one around it.

    Its own variables in inner functions are no matter of the code: who has such a function has
    a reference to the variable, and that is counted.
    """
    told = f"shared with the function around `{code.co_name}()`"
    return {name: told for name in names if name in code.co_freevars}


def _read_by_others(frame: FrameType, names: Collection[str]) -> dict[str, str]:
    """The variables of a module that its functions, or other modules, may read."""
    space = frame.f_globals
    if frame.f_locals is not space:
        return dict.fromkeys(names, "kept as an attribute of a class, or in a dictionary")
    if told := _imported_as(space):
        return dict.fromkeys(names, f"a name in module `{told}`, which others may import")
    found = read_in_rest_of_cell(frame.f_code, names)
    for code in (*_nested(frame.f_code), *_functions_of(space)):
        if code is not frame.f_code:
            found = CodeFlow(code).reads_of_module(names) | found
    return found


def _imported_as(space: Mapping[str, Any]) -> str:
    """The name by which others can import a module; empty for the program itself."""
    name = space.get("__name__")
    if type(name) is not str or name == "__main__":
        return ""
    module = sys.modules.get(name)
    is_known = isinstance(module, ModuleType) and namespace(module) is space
    return name if is_known else ""


def _functions_of(space: Mapping[str, Any]) -> Iterator[CodeType]:
    """Those that other code has put into the module, such as an earlier cell of a notebook."""
    for value in [*space.values()]:
        for thing in [*vars(value).values()] if type(value) is type else [value]:
            if type(thing) is FunctionType and thing.__globals__ is space:
                yield from _nested(thing.__code__)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)
