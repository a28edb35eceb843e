"""By which name one object refers to another: an attribute, a key, a variable of a closure."""

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from types import (
    CellType,
    FrameType,
    FunctionType,
    GeneratorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    TracebackType,
)
from typing import Any

from lowwater.census.roots import variables_of

# A dictionary with more entries is data, and its keys say nothing.
_FEW_KEYS = 32
# Tuples up to this length are records: which of the fields it is matters.
_SHORT = 8
ANY_ITEM = "[*]"
UNKNOWN = ""


def named_parts(
    thing: Any,  # noqa: ANN401
    is_users_class: Callable[[type], bool],
) -> Iterator[tuple[str, Any]]:
    """The parts of an object whose names tell two paths apart: attributes and a few keys."""
    kind = type(thing)
    if kind is dict and 0 < len(thing) <= _FEW_KEYS:
        yield from ((f"[{key!r}]", part) for key, part in [*thing.items()] if type(key) is str)
    elif is_users_class(kind):
        yield from ((f".{name}", part) for name, part in attributes(thing))
    elif isinstance(thing, type) and is_users_class(thing):
        yield from ((f".{name}", part) for name, part in [*vars(thing).items()])


def attributes(thing: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """The attributes of an instance, read past any `__getattr__` of its class."""
    try:
        own = object.__getattribute__(thing, "__dict__")
    except (AttributeError, TypeError):
        own = {}
    if isinstance(own, dict):
        yield from ((name, part) for name, part in [*own.items()] if type(name) is str)
    for base in type(thing).__mro__:
        for name, slot in [*base.__dict__.items()]:
            if type(slot) is MemberDescriptorType:
                try:
                    yield name, slot.__get__(thing)
                except AttributeError:  # a slot that is empty
                    continue


def label(parent: Any, child: Any) -> str:  # noqa: ANN401
    """How the parent names the child; empty where it has no name that can be found."""
    try:
        return next((name for name, part in _parts(parent) if part is child), UNKNOWN)
    except Exception:  # noqa: BLE001 - a container that changes meanwhile, a strange class
        return UNKNOWN


def _parts(parent: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401, C901, PLR0912 - one case each
    match parent:
        case ModuleType():
            yield from ((f".{name}", part) for name, part in [*vars(parent).items()])
        case FrameType():
            yield from ((f"local {name}", part) for name, part in variables_of(parent).items())
        case GeneratorType() if parent.gi_frame is not None:
            inner = variables_of(parent.gi_frame).items()
            yield from ((f"local {name}", part) for name, part in inner)
        case TracebackType():
            yield ".tb_frame", parent.tb_frame
            yield ".tb_next", parent.tb_next
        case FunctionType():
            yield from _parts_of_function(parent)
        case CellType():
            yield "", parent.cell_contents
        case MethodType():
            yield ".__self__", parent.__self__
            yield ".__func__", parent.__func__
        case partial():
            yield from (("argument", part) for part in parent.args)
            yield from ((f"argument {name}", part) for name, part in parent.keywords.items())
        case type():
            yield from ((f".{name}", part) for name, part in [*vars(parent).items()])
        case dict():
            yield from _parts_of_dict(parent)
        case tuple() if len(parent) <= _SHORT and type(parent) is tuple:
            yield from ((f"[{index}]", part) for index, part in enumerate(parent))
        case list() | tuple() | set() | frozenset() | deque():
            yield from ((ANY_ITEM, part) for part in [*parent])
    if not isinstance(parent, type | ModuleType):
        yield from ((f".{name}", part) for name, part in attributes(parent))
    if isinstance(parent, BaseException):
        yield ".__traceback__", parent.__traceback__
        yield ".__context__", parent.__context__
        yield ".__cause__", parent.__cause__


def _parts_of_function(function: FunctionType) -> Iterator[tuple[str, Any]]:
    names = function.__code__.co_freevars
    for name, cell in zip(names, function.__closure__ or (), strict=False):
        yield f"closure {name}", cell
    defaults = function.__defaults__ or ()
    arguments = function.__code__.co_varnames[: function.__code__.co_argcount]
    for name, part in zip(arguments[len(arguments) - len(defaults) :], defaults, strict=False):
        yield f"default {name}", part
    for name, part in (function.__kwdefaults__ or {}).items():
        yield f"default {name}", part
    yield ".__defaults__", function.__defaults__
    yield ".__kwdefaults__", function.__kwdefaults__


def _parts_of_dict(parent: dict[Any, Any]) -> Iterator[tuple[str, Any]]:
    are_names = len(parent) <= _FEW_KEYS
    for key, part in [*parent.items()]:
        yield (f"[{key!r}]" if are_names and type(key) is str else ANY_ITEM), part
    yield from (("key", key) for key in [*parent])
