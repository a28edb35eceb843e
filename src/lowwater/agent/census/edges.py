"""By which name one object refers to another: an attribute, a key, a variable of a closure."""

import contextlib
import gc
import threading
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import partial
from types import (
    AsyncGeneratorType,
    CoroutineType,
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

from lowwater.agent.census.kinds import bases_of, class_attributes, derives
from lowwater.agent.census.latest import MOST_ITEMS, latest_items
from lowwater.agent.census.references import context_values, thread_locals, unwrapped
from lowwater.agent.census.roots import namespace, variables_of
from lowwater.model.interruption import let_through

# A dictionary with more entries is data, and its keys say nothing.
_FEW_KEYS = 32
# Longer ones are texts, not names.
_LONGEST_NAME = 80
# Tuples up to this length are records: which of the fields it is matters.
_SHORT = 8
# By their addresses: a type that is looked up in a set is asked for its hash, by its metaclass.
_DICTS = frozenset(map(id, (dict, defaultdict, OrderedDict)))
ANY_ITEM = "[*]"
UNKNOWN = ""


def named_parts(
    thing: Any,  # noqa: ANN401
    is_users_class: Callable[[type], bool],
) -> Iterator[tuple[str, Any]]:
    """The parts of an object whose names tell two paths apart: attributes and a few keys."""
    kind = type(thing)
    if id(kind) in _DICTS and 0 < len(thing) <= _FEW_KEYS:
        yield from ((f"[{key!r}]", part) for key, part in [*thing.items()] if is_name(key))
    elif is_users_class(kind):
        yield from ((f".{name}", part) for name, part in attributes(thing))
    elif derives(kind, type) and is_users_class(thing):
        yield from _parts_of_class(thing)


def is_name(key: Any) -> bool:  # noqa: ANN401
    """Whether a key can stand in a report: anything but a short string says nothing there."""
    return type(key) is str and len(key) <= _LONGEST_NAME


def attributes(thing: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """The attributes of an instance, read past any `__getattr__` or property of its class."""
    for base in bases_of(type(thing)):
        for name, part in [*class_attributes(base).items()]:
            is_slot = type(part) is MemberDescriptorType
            if (is_slot or type(part) is GetSetDescriptorType) and part.__name__ == "__dict__":
                own = part.__get__(thing)
                yield from ((key, value) for key, value in [*own.items()] if is_name(key))
            elif is_slot:
                with contextlib.suppress(AttributeError):  # a slot that is empty
                    yield name, part.__get__(thing)


def label(parent: Any, child: Any) -> str:  # noqa: ANN401
    """How the parent names the child; empty where it has no name that can be found."""
    try:
        return next((name for name, part in parts_of(parent) if part is child), UNKNOWN)
    except Exception as error:  # noqa: BLE001 - a container that changes meanwhile, a strange class
        let_through(error)
        return UNKNOWN


def parts_of(parent: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """What an object refers to by a name that can be found, with that name."""
    # By its type: `isinstance` would ask an object of the user's what it is.
    kind = type(parent)
    for base, parts in _PARTS:
        if derives(kind, base):
            yield from parts(parent)
            break
    if not derives(kind, type) and not derives(kind, ModuleType):
        yield from ((f".{name}", part) for name, part in attributes(parent))


def _parts_of_module(module: ModuleType) -> Iterator[tuple[str, Any]]:
    return ((f".{name}", part) for name, part in [*namespace(module).items()] if is_name(name))


def _parts_of_class(kind: type) -> Iterator[tuple[str, Any]]:
    attributes = [*class_attributes(kind).items()]
    return ((f".{name}", unwrapped(part)) for name, part in attributes if is_name(name))


def _parts_of_frame(frame: FrameType) -> Iterator[tuple[str, Any]]:
    return ((f"local {name}", part) for name, part in variables_of(frame).items())


def _parts_of_generator(generator: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    frame = getattr(generator, _FRAMES[type(generator)])
    return _parts_of_frame(frame) if frame is not None else iter(())


def _parts_of_traceback(entry: TracebackType) -> Iterator[tuple[str, Any]]:
    yield ".tb_frame", entry.tb_frame
    yield ".tb_next", entry.tb_next


def _parts_of_local(local: threading.local) -> Iterator[tuple[str, Any]]:
    kept = (pair for names in thread_locals([local]) for pair in [*names.items()])
    return ((f".{name}", part) for name, part in kept if is_name(name))


def _parts_of_context_variable(variable: ContextVar[Any]) -> Iterator[tuple[str, Any]]:
    return ((".get()", part) for part in context_values([variable]))


def _parts_of_method(method: MethodType) -> Iterator[tuple[str, Any]]:
    yield ".__self__", method.__self__
    yield ".__func__", method.__func__


def _parts_of_partial(call: "partial[Any]") -> Iterator[tuple[str, Any]]:
    # By the class itself: one that derives from it may define them anew.
    arguments, keywords = (vars(partial)[name].__get__(call) for name in ("args", "keywords"))
    yield from (("argument", part) for part in arguments)
    yield from ((f"argument {name}", part) for name, part in [*keywords.items()])


def _parts_of_exception(error: BaseException) -> Iterator[tuple[str, Any]]:
    for name in ("__traceback__", "__context__", "__cause__"):
        yield f".{name}", vars(BaseException)[name].__get__(error)


def _parts_of_items(items: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    is_record = type(items) is tuple and len(items) <= _SHORT
    if is_record:
        yield from ((f"[{index}]", part) for index, part in enumerate(items))
    latest = latest_items(items)
    referents = latest if len(latest) >= MOST_ITEMS else gc.get_referents(items)
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


def _parts_of_dict(parent: dict[Any, Any]) -> Iterator[tuple[str, Any]]:
    if dict.__len__(parent) > MOST_ITEMS:
        yield from ((ANY_ITEM, part) for part in latest_items(parent))
        return
    are_names = dict.__len__(parent) <= _FEW_KEYS
    for key, part in [*dict.items(parent)]:
        yield (f"[{key!r}]" if are_names and is_name(key) else ANY_ITEM), part
    yield from (("key", key) for key in [*dict.keys(parent)])


_FRAMES = {GeneratorType: "gi_frame", CoroutineType: "cr_frame", AsyncGeneratorType: "ag_frame"}
_PARTS: tuple[tuple[type, Callable[[Any], Iterator[tuple[str, Any]]]], ...] = (
    (ModuleType, _parts_of_module),
    (type, _parts_of_class),
    (FrameType, _parts_of_frame),
    *((kind, _parts_of_generator) for kind in _FRAMES),
    (TracebackType, _parts_of_traceback),
    (FunctionType, _parts_of_function),
    (MethodType, _parts_of_method),
    (threading.local, _parts_of_local),
    (ContextVar, _parts_of_context_variable),
    (partial, _parts_of_partial),
    (BaseException, _parts_of_exception),
    (dict, _parts_of_dict),
    *((kind, _parts_of_items) for kind in (list, tuple, set, frozenset, deque)),
)
