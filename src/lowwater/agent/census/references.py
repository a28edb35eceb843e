"""What an object refers to, as far as it can matter; asked for many objects of one type at once.

The collector knows nearly all references. Some it does not see (the owner of an array's view,
the objects in an array), and some are too many and never of interest (the code, the
annotations and the globals of every function of a framework).
"""

import gc
import io
import sys
import threading
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from itertools import chain
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, ForwardRef, TypeVar

from lowwater.agent.census.addresses import place_of
from lowwater.agent.census.kinds import (
    attribute,
    bases_of,
    class_attributes,
    derives,
    is_made_by_class_statement,
    loaded_type,
)

# Numbers are never told apart: a list of ten million would need a set of ten million names.
NUMBERS = frozenset({int, float, bool, complex, type(None), type(NotImplemented), type(...)})
# By their addresses: a type that is looked up in a set is asked for its hash, by its metaclass.
NUMBER_PLACES = frozenset(map(place_of, NUMBERS))
# These refer to nothing, or to code only.
LEAVES = NUMBERS | {
    str, bytes, bytearray, range, slice, CodeType, ModuleType, property, staticmethod,
    classmethod, BuiltinFunctionType, ClassMethodDescriptorType, GetSetDescriptorType,
    MemberDescriptorType, MethodDescriptorType, WrapperDescriptorType, ForwardRef, TypeVar,
}  # fmt: skip
_LEAVES = frozenset(map(place_of, LEAVES))
# Containers that can grow, and whose length is asked of no code of the program.
OPEN = frozenset({list, dict, set, deque, OrderedDict, defaultdict, Counter})
# With those that cannot grow: their length, too, is asked of no code of the program.
MEASURABLE = OPEN | {tuple, frozenset}
_TYPE_AND_DICT = 2
# In a dictionary with this many, keys are data; those of smaller ones are mostly shared names.
_MANY_KEYS = 1_000


@dataclass(frozen=True, slots=True)
class _Plan:
    """How objects of one type are asked; found once: a chain has a million of the same."""

    kind: type
    refer_to: Callable[[list[Any]], Iterator[list[Any]]]
    attributes: Callable[[Iterable[Any]], list[dict[str, Any]]] | None


class References:
    """Gives the referents of objects, type by type; knows only libraries that are loaded."""

    def __init__(self, is_users: Callable[[Any], bool]) -> None:
        """`is_users` tells a function or a class of the program from a library's."""
        self._is_users = is_users
        self.array_type = loaded_type("numpy", "ndarray")
        # By their addresses: a type may have a hash of its own. The plan keeps the type alive.
        self._plans: dict[int, _Plan] = {}

    def of(
        self, kind: type, objects: list[Any], made: list[dict[str, Any]] | None = None
    ) -> Iterator[list[Any]]:
        """All that these objects of one type refer to.

        `made` are their `attribute_dicts`, where these are known already.
        """
        plan = self._plan(kind)
        yield from plan.refer_to(objects)
        made = self.attribute_dicts(kind, objects) if made is None else made
        yield from ([*attributes.values()] for attributes in made)

    def attribute_dicts(self, kind: type, objects: Iterable[Any]) -> list[dict[str, Any]]:
        """The `__dict__` of those objects that have made one by now.

        Python keeps the values of most objects without a dictionary, until somebody asks for it.
        So it must not be asked for, and whether there is one must make no difference.
        """
        attributes = self._plan(kind).attributes
        return attributes(objects) if attributes is not None else []

    def forget(self) -> None:
        """Let go of all types, and break the cycles."""
        self._plans.clear()

    def _plan(self, kind: type) -> _Plan:
        plan = self._plans.get(place_of(kind))
        if plan is None:
            plan = _Plan(kind, self._asked(kind), _attributes_of(kind))
            self._plans[place_of(kind)] = plan
        return plan

    def _asked(self, kind: type) -> Callable[[list[Any]], Iterator[list[Any]]]:
        if kind is FunctionType:
            return lambda functions: iter(([*self._of_functions(functions)],))
        if derives(kind, type):
            return lambda classes: iter(([*self._of_classes(classes)],))
        if derives(kind, io.BytesIO):
            return lambda files: iter(([*_of_files_in_memory(files)],))
        hidden = self._hidden(kind)
        if hidden is None:
            return lambda objects: iter((gc.get_referents(*objects),))
        return lambda objects: chain((gc.get_referents(*objects),), hidden(objects))

    def _hidden(self, kind: type) -> Callable[[list[Any]], Iterator[list[Any]]] | None:
        if derives(kind, dict):
            return _many_keys
        if kind is ContextVar:
            return lambda variables: iter(([*context_values(variables)],))
        if derives(kind, self.array_type):
            return lambda arrays: iter(([*_hidden_in_arrays(arrays)],))
        return None

    def _of_functions(self, functions: Iterable[FunctionType]) -> Iterator[Any]:
        for function in functions:
            if function.__closure__:
                yield from function.__closure__
            if self._is_users(function):
                yield from function.__defaults__ or ()
                yield from [*(function.__kwdefaults__ or {}).values()]
                yield function.__dict__

    def _of_classes(self, classes: Iterable[type]) -> Iterator[Any]:
        for kind in classes:
            parts = map(unwrapped, [*class_attributes(kind).values()])
            yield from parts if self._is_users(kind) else filter(may_hold, parts)


def _many_keys(dicts: list[Any]) -> Iterator[list[Any]]:
    """The collector is not told of keys that are strings: they cannot be part of a cycle."""
    return ([*dict.keys(one)] for one in dicts if dict.__len__(one) >= _MANY_KEYS)


def _attributes_of(kind: type) -> Callable[[Iterable[Any]], list[dict[str, Any]]] | None:
    if derives(kind, threading.local):
        return lambda objects: [*thread_locals(objects)]
    own = attribute(kind, "__dict__")
    if type(own) is not GetSetDescriptorType or kind is FunctionType or derives(kind, type):
        return None
    is_plain = all(map(_adds_only_attributes, bases_of(kind)))
    return lambda objects: [
        made for thing in objects for made in _attribute_dict(thing, own, is_plain)
    ]


def _adds_only_attributes(base: type) -> bool:
    is_pythons = is_made_by_class_statement(base) and "__slots__" not in class_attributes(base)
    return is_pythons or base is object


def _attribute_dict(
    thing: Any,  # noqa: ANN401
    own: GetSetDescriptorType,
    is_plain: bool,  # noqa: FBT001
) -> Iterator[dict[str, Any]]:
    """The dictionary, if there is one by now."""
    referents = gc.get_referents(thing)
    dicts = [part for part in referents if type(part) is dict]
    # A plain object refers to its type and either to its dictionary or to all of its values.
    if dicts and (not is_plain or len(referents) == _TYPE_AND_DICT):
        # Where a dictionary is its only value, there is one from now on, for having asked.
        yield own.__get__(thing)


def unwrapped(part: Any) -> Any:  # noqa: ANN401
    """The function in a static method, a class method or a property; anything else as it is."""
    kind = type(part)
    if kind is staticmethod or kind is classmethod:
        return part.__func__
    return part.fget if kind is property else part


def may_hold(part: Any) -> bool:  # noqa: ANN401
    """Whether something that a library names may keep memory.

    A function without a closure does not: there are fifty thousand of these in TensorFlow. Nor
    does the text of a class about itself.
    """
    kind = type(part)
    if kind is FunctionType:
        return part.__closure__ is not None
    return place_of(kind) not in _LEAVES


def _hidden_in_arrays(arrays: list[Any]) -> Iterator[Any]:
    """The owner of a view, and the objects in an array of objects."""
    ndarray = sys.modules["numpy"].ndarray
    for array in arrays:
        base = ndarray.base.__get__(array)
        if base is not None:
            yield base
        elif ndarray.dtype.__get__(array).hasobject:
            # As a plain array: a subclass would be told of its new view.
            yield from ndarray.ravel(ndarray.view(array, ndarray)).tolist()


def thread_locals(things: Iterable[Any]) -> Iterator[dict[Any, Any]]:
    """The values that threads keep in such objects; looking at them does not run `__init__`."""
    for local in things:
        # It keeps a dictionary of its own, with one for each thread that has used it.
        kept = [part for part in gc.get_referents(local) if type(part) is dict]
        yield from kept
        yield from (names for by_thread in kept for names in _dicts_in(by_thread))


def context_values(variables: Iterable[Any]) -> Iterator[Any]:
    """What such variables have in this thread; they themselves do not refer to it."""
    context = copy_context()
    yield from (context[variable] for variable in variables if variable in context)


def _dicts_in(parts: dict[Any, Any]) -> list[dict[Any, Any]]:
    return [part for part in [*parts.values()] if type(part) is dict]


def _of_files_in_memory(files: Iterable[io.BytesIO]) -> Iterator[Any]:
    """Without the bytes that count as its own; since Python 3.12 the collector is told of them."""
    for file in files:
        held_bytes = io.BytesIO.__sizeof__(file)
        for part in gc.get_referents(file):
            if type(part) is not bytes or len(part) > held_bytes:
                yield part
