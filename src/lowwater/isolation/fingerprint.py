"""By what a call is known again in another run: its function, and what that is given."""

import functools
import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from types import CellType, CodeType, MethodType
from typing import Any

from lowwater.isolation.call import inner
from lowwater.isolation.parcel import pack

# ruff: noqa: ANN401 - functions and configurations are the user's

_PLAIN = (type(None), bool, int, float, complex, str, bytes)


class Fingerprints:
    """Those of the calls of one function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        """Take apart what is bound already: it is given to the function like the rest."""
        self._function, args, kwargs = _taken_apart(function)
        self._bound = fingerprint((args, kwargs, _enclosed(self._function)))
        self.name: str = getattr(self._function, "__qualname__", type(self._function).__qualname__)

    def of_call(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
        """The same for the same arguments."""
        return fingerprint((self._bound, args, dict(kwargs))).hex()

    def of_code(self) -> str | None:
        """Another one when the function was changed."""
        code = getattr(self._function, "__code__", None)
        if code is None:
            return None
        digest = hashlib.sha256()
        waiting: list[CodeType] = [code]
        while waiting:
            one = waiting.pop()
            digest.update(one.co_code)
            digest.update(repr(one.co_names).encode())
            inside = [part for part in one.co_consts if isinstance(part, CodeType)]
            digest.update(repr([part for part in one.co_consts if part not in inside]).encode())
            waiting += inside
        return digest.hexdigest()


def fingerprint(value: Any) -> bytes:
    """Every part goes in with its type: two optimizers with the same rate are not the same."""
    kind = type(value)
    if kind in _PLAIN:
        parts = [repr(value).encode()]
    elif kind is list or isinstance(value, tuple):
        parts = [fingerprint(one) for one in value]
    elif kind in {set, frozenset}:
        parts = sorted(fingerprint(one) for one in value)
    elif kind is dict:
        parts = sorted(fingerprint(one) for one in value.items())
    elif isinstance(value, Enum):
        parts = [value.name.encode()]
    elif is_dataclass(value) and not isinstance(value, type):
        parts = [fingerprint(getattr(value, one.name, None)) for one in fields(value)]
    else:
        parts = _pickled_parts(value)
    name = f"{kind.__module__}.{kind.__qualname__} {len(parts)}:"
    return hashlib.sha256(b"".join([name.encode(), *parts])).digest()


def _pickled_parts(value: Any) -> list[bytes]:
    """Of arrays and objects."""
    try:
        parcel = pack(value)
    except Exception:  # noqa: BLE001 - it cannot be sent either: its trial has no result to find
        return [os.urandom(16)]
    return [bytes(parcel.pickled), *map(bytes, parcel.buffers)]


def _enclosed(function: Callable[..., Any]) -> dict[str, Any]:
    """The plain values of a closure, as a fold's number; objects may pickle anew each time."""
    cells = getattr(function, "__closure__", None) or ()
    names = function.__code__.co_freevars if cells else ()
    found = {name: _content(cell) for name, cell in zip(names, cells, strict=True)}
    return {name: value for name, value in found.items() if type(value) in _PLAIN}


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing was assigned yet
        return None


def _taken_apart(
    function: Callable[..., Any],
) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
    function = inner(function)
    if isinstance(function, MethodType):
        return function.__func__, (function.__self__,), {}
    if not isinstance(function, functools.partial):
        return function, (), {}
    innermost, args, kwargs = _taken_apart(function.func)
    return innermost, (*args, *function.args), {**kwargs, **function.keywords}
