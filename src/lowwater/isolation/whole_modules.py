"""Modules that a fresh process would not find again: what they define is sent whole.

A module that was loaded by hand, or under another name, is known by its name in this process
only. Functions and classes of all others travel by their names, as pickle has it.
"""

import os
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import FunctionType, ModuleType
from typing import Any

import cloudpickle

# cloudpickle has one list for the whole process, and several threads may be packing.
_changing = threading.Lock()
_users: Counter[str] = Counter()


class WholeModules:
    """Those of one parcel, found while it is packed."""

    def __init__(self) -> None:
        """None yet."""
        self._asked: set[str] = set()
        self.found: list[ModuleType] = []

    def look_at(self, thing: Any) -> None:  # noqa: ANN401 - anything that is packed
        """Before a function or a class is packed: by its name, or whole."""
        if not isinstance(thing, FunctionType | type):
            return
        name = thing.__module__
        if type(name) is not str or name in self._asked:
            return
        self._asked.add(name)
        module = sys.modules.get(name)
        if module is not None and name != "__main__" and not is_found_again(module):
            self.found.append(module)
            with _changing:
                _users[name] += 1
                cloudpickle.register_pickle_by_value(module)

    def forget(self) -> None:
        """The parcel is packed."""
        with _changing:
            for module in self.found:
                _users[module.__name__] -= 1
                if not _users[module.__name__]:
                    cloudpickle.unregister_pickle_by_value(module)


@contextmanager
def whole_modules() -> Iterator[WholeModules]:
    """For one parcel."""
    modules = WholeModules()
    try:
        yield modules
    finally:
        modules.forget()


def is_found_again(module: ModuleType) -> bool:
    """Whether a process that has not imported the module yet would find the same one."""
    file = getattr(module, "__file__", None)
    if type(file) is not str:
        return _spec_of(module.__name__) is not None
    if file.startswith((os.path.join(sys.prefix, ""), os.path.join(sys.base_prefix, ""))):
        return True  # installed
    spec = _spec_of(module.__name__)
    origin = spec.origin if spec is not None else None
    return origin is not None and os.path.realpath(origin) == os.path.realpath(file)


def _spec_of(name: str) -> ModuleSpec | None:
    path: Sequence[str] | None = None
    spec: ModuleSpec | None = None
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        spec = _found_by_finders(".".join(parts[:count]), path)
        if spec is None:
            return None
        path = spec.submodule_search_locations
    return spec


def _found_by_finders(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    for finder in sys.meta_path:
        # Not `importlib.util.find_spec`: it would ask the module that is loaded here.
        found = finder.find_spec(name, path) if hasattr(finder, "find_spec") else None
        if found is not None:
            return found
    return None
