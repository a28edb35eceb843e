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
from typing import Any

from lowwater.census.kinds import (
    attribute,
    bases_of,
    class_attributes,
    derives,
    is_made_by_class_statement,
    loaded_type,
)

# Numbers are never told apart: a list of ten million would need a set of ten million names.
NUMBERS = frozenset({int, float, bool, complex, type(None), type(NotImplemented), type(...)})
# These refer to nothing, or to code only.
LEAVES = NUMBERS | {
    str, bytes, bytearray, range, slice, CodeType, ModuleType, property, staticmethod,
    classmethod, BuiltinFunctionType, ClassMethodDescriptorType, GetSetDescriptorType,
    MemberDescriptorType, MethodDescriptorType, WrapperDescriptorType,
}  # fmt: skip
# Containers that can grow, and whose length is asked of no code of the program.
OPEN = frozenset({list, dict, set, deque, OrderedDict, defaultdict, Counter})
# Objects that are asked in one call; the list that comes back is garbage a moment later.
_MOST_AT_ONCE = 50_000
_TYPE_AND_DICT = 2
# In a dictionary with so many, keys are data; those of smaller ones are mostly shared names.
_MANY_KEYS = 1_000


class References:
    """Gives the referents of objects, type by type; knows only libraries that are loaded."""

    def __init__(self, is_users: Callable[[Any], bool]) -> None:
        """`is_users` tells a function or a class of the program from a library's."""
        self._is_users = is_users
        self._array_type = loaded_type("numpy", "ndarray")

    def of(
        self, kind: type, objects: list[Any], made: list[dict[str, Any]] | None = None
    ) -> Iterator[list[Any]]:
        """All that these objects of one type refer to, in lists of a bearable length.

        `made` are their `attribute_dicts`, where these are known already.
        """
        if kind is FunctionType:
            yield [*self._of_functions(objects)]
        elif derives(kind, type):
            yield [*self._of_classes(objects)]
        elif derives(kind, io.BytesIO):
            yield [*_of_files_in_memory(objects)]
        else:
            for start in range(0, len(objects), _MOST_AT_ONCE):
                yield gc.get_referents(*objects[start : start + _MOST_AT_ONCE])
            made = self.attribute_dicts(kind, objects) if made is None else made
            yield from ([*attributes.values()] for attributes in made)
            yield from self._hidden(kind, objects)

    def attribute_dicts(self, kind: type, objects: Iterable[Any]) -> list[dict[str, Any]]:
        """The `__dict__` of those objects that have made one by now.

        Python keeps the values of most objects without a dictionary, until somebody asks for it.
        So it must not be asked for, and whether there is one must make no difference.
        """
        if derives(kind, threading.local):
            return [*thread_locals(objects)]
        own = attribute(kind, "__dict__")
        if type(own) is not GetSetDescriptorType or kind is FunctionType or derives(kind, type):
            return []
        is_plain = all(map(_adds_only_attributes, bases_of(kind)))
        return [made for thing in objects for made in _attribute_dict(thing, own, is_plain)]

    def _hidden(self, kind: type, objects: list[Any]) -> Iterator[list[Any]]:
        if derives(kind, dict):
            # The collector is not told of keys that are strings: they cannot be part of a cycle.
            yield from ([*dict.keys(one)] for one in objects if dict.__len__(one) >= _MANY_KEYS)
        elif kind is ContextVar:
            yield [*context_values(objects)]
        elif derives(kind, self._array_type):
            yield [*_hidden_in_arrays(objects)]

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
            yield from map(unwrapped, [*class_attributes(kind).values()])


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
