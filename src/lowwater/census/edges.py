"""By which name one object refers to another: an attribute, a key, a variable of a closure."""

import contextlib
import gc
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from types import (
    FrameType,
    FunctionType,
    GeneratorType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    TracebackType,
)
from typing import Any

from lowwater.census.roots import variables_of
from lowwater.census.sizes import derives

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
    elif derives(kind, type) and is_users_class(thing):
        yield from ((f".{name}", part) for name, part in [*vars(thing).items()])


def attributes(thing: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """The attributes of an instance, read past any `__getattr__` or property of its class."""
    for base in type(thing).__mro__:
        for name, part in [*base.__dict__.items()]:
            if name == "__dict__" and type(part) is GetSetDescriptorType:
                own = part.__get__(thing)
                yield from ((key, value) for key, value in [*own.items()] if type(key) is str)
            elif type(part) is MemberDescriptorType:
                with contextlib.suppress(AttributeError):  # a slot that is empty
                    yield name, part.__get__(thing)


def label(parent: Any, child: Any) -> str:  # noqa: ANN401
    """How the parent names the child; empty where it has no name that can be found."""
    try:
        return next((name for name, part in _parts(parent) if part is child), UNKNOWN)
    except Exception:  # noqa: BLE001 - a container that changes meanwhile, a strange class
        return UNKNOWN


def _parts(parent: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    # By its type: `isinstance` would ask an object of the user's what it is.
    kind = type(parent)
    for base, parts in _PARTS:
        if derives(kind, base):
            yield from parts(parent)
            break
    if not derives(kind, type) and not derives(kind, ModuleType):
        yield from ((f".{name}", part) for name, part in attributes(parent))


def _parts_of_module(parent: ModuleType | type) -> Iterator[tuple[str, Any]]:
    return ((f".{name}", part) for name, part in [*vars(parent).items()])


def _parts_of_frame(frame: FrameType) -> Iterator[tuple[str, Any]]:
    return ((f"local {name}", part) for name, part in variables_of(frame).items())


def _parts_of_generator(generator: "GeneratorType[Any, Any, Any]") -> Iterator[tuple[str, Any]]:
    return _parts_of_frame(generator.gi_frame) if generator.gi_frame is not None else iter(())


def _parts_of_traceback(entry: TracebackType) -> Iterator[tuple[str, Any]]:
    yield ".tb_frame", entry.tb_frame
    yield ".tb_next", entry.tb_next


def _parts_of_method(method: MethodType) -> Iterator[tuple[str, Any]]:
    yield ".__self__", method.__self__
    yield ".__func__", method.__func__


def _parts_of_partial(call: "partial[Any]") -> Iterator[tuple[str, Any]]:
    yield from (("argument", part) for part in call.args)
    yield from ((f"argument {name}", part) for name, part in call.keywords.items())


def _parts_of_exception(error: BaseException) -> Iterator[tuple[str, Any]]:
    yield ".__traceback__", error.__traceback__
    yield ".__context__", error.__context__
    yield ".__cause__", error.__cause__


def _parts_of_items(items: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    is_record = type(items) is tuple and len(items) <= _SHORT
    referents = gc.get_referents(items)
    if is_record:
        yield from ((f"[{index}]", part) for index, part in enumerate(items))
    yield from ((ANY_ITEM, part) for part in referents)


def _parts_of_function(function: FunctionType) -> Iterator[tuple[str, Any]]:
    names = function.__code__.co_freevars
    for name, cell in zip(names, function.__closure__ or (), strict=False):
        yield f"closure {name}", cell
        with contextlib.suppress(ValueError):  # a cell that is empty
            yield f"closure {name}", cell.cell_contents
    defaults = function.__defaults__ or ()
    arguments = function.__code__.co_varnames[: function.__code__.co_argcount]
    for name, part in zip(arguments[len(arguments) - len(defaults) :], defaults, strict=False):
        yield f"default {name}", part
    for name, part in (function.__kwdefaults__ or {}).items():
        yield f"default {name}", part
    yield ".__defaults__", function.__defaults__
    yield ".__kwdefaults__", function.__kwdefaults__


def _parts_of_dict(parent: dict[Any, Any]) -> Iterator[tuple[str, Any]]:
    are_names = dict.__len__(parent) <= _FEW_KEYS
    for key, part in [*dict.items(parent)]:
        yield (f"[{key!r}]" if are_names and type(key) is str else ANY_ITEM), part
    yield from (("key", key) for key in [*dict.keys(parent)])


_PARTS: tuple[tuple[type, Callable[[Any], Iterator[tuple[str, Any]]]], ...] = (
    (ModuleType, _parts_of_module),
    (type, _parts_of_module),
    (FrameType, _parts_of_frame),
    (GeneratorType, _parts_of_generator),
    (TracebackType, _parts_of_traceback),
    (FunctionType, _parts_of_function),
    (MethodType, _parts_of_method),
    (partial, _parts_of_partial),
    (BaseException, _parts_of_exception),
    (dict, _parts_of_dict),
    *((kind, _parts_of_items) for kind in (list, tuple, set, frozenset, deque)),
)
