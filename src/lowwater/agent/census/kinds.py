"""What a type is, asked of the type itself: its metaclass may be the program's, and stays unrun.

`isinstance` asks an object for its `__class__`, `kind.__mro__` asks the metaclass, and a type in
a set is asked for its hash. All three may be code of the program that raises, or takes long.
"""

import sys
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from lowwater.agent.census.addresses import place_of
from lowwater.model.frameworks import package_of

Answer = TypeVar("Answer")

_IS_MADE_BY_CLASS_STATEMENT = 1 << 9

bases_of: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
qualname_of: Callable[[type], str] = type.__dict__["__qualname__"].__get__
basic_size: Callable[[type], int] = type.__dict__["__basicsize__"].__get__
_flags: Callable[[type], int] = type.__dict__["__flags__"].__get__
_dict: Callable[[type], Mapping[str, Any] | None] = type.__dict__["__dict__"].__get__
_module: Callable[[type], Any] = type.__dict__["__module__"].__get__


class Answers(dict[int, tuple[type, Answer]], Generic[Answer]):
    """What a question about types was answered with; each is asked about once."""

    def __init__(self, question: Callable[[type], Answer]) -> None:
        """Ask `question` of every new type."""
        super().__init__()
        self._question = question

    def of(self, kind: type) -> Answer:
        """The answer; the type is kept with it, for here its address is its name."""
        known = self.get(place_of(kind))
        if known is None:
            known = self[place_of(kind)] = kind, self._question(kind)
        return known[1]


def kind_of(thing: Any) -> type:  # noqa: ANN401
    """The type, to be looked up in a dictionary; `object` where that would ask its metaclass.

    Not one of its bases: what is called a list is asked for its length, and `__len__` may be
    the program's.
    """
    kind = type(thing)
    return kind if type(kind) is type or is_hashable(kind) else object


def class_attributes(kind: type) -> Mapping[str, Any]:
    """What a class itself defines, by name."""
    # A type of C that was never used is not ready, and has no attributes yet.
    return _dict(kind) or {}


def is_hashable(kind: type) -> bool:
    """Whether a dictionary can find the type without asking its metaclass."""
    metaclass = type(kind)
    return (
        attribute(metaclass, "__hash__") is type.__hash__
        and attribute(metaclass, "__eq__") is type.__eq__
    )


def attribute(kind: type, name: str) -> Any:  # noqa: ANN401
    """What the class or one of its bases defines by this name, as it stands there."""
    defined = (class_attributes(base) for base in bases_of(kind))
    return next((names[name] for names in defined if name in names), None)


def derives(kind: type, base: type | None) -> bool:
    """Whether it is a subclass; `issubclass` would fill the caches of abstract classes."""
    return base is not None and type.__subclasscheck__(base, kind)


def is_a(thing: Any, *bases: type) -> bool:  # noqa: ANN401
    """Like `isinstance`, but never asks the object."""
    kind = type(thing)
    return any(type.__subclasscheck__(base, kind) for base in bases)


def is_made_by_class_statement(kind: type) -> bool:
    """Whether Python code has made the class, and not a library in C."""
    return bool(_flags(kind) & _IS_MADE_BY_CLASS_STATEMENT)


def module_of(kind: type) -> str | None:
    """The name of the module that defines the class; a class may say anything there."""
    module = class_attributes(kind).get("__module__")
    if type(module) is not str:
        module = _module(kind)
    return module if type(module) is str else None


def library_of(kind: type) -> str:
    """The package that a class says it is from: `keras`."""
    return package_of(module_of(kind) or "")


def loaded_type(module: str, name: str) -> type | None:
    """A class of a library, if the program has imported that; we never do."""
    found = getattr(sys.modules.get(module), name, None)
    return found if isinstance(found, type) else None
