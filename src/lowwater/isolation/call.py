"""A call on its way to another process: a function with its arguments."""

import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any

from lowwater.errors import NotPicklable
from lowwater.isolation import keras_models
from lowwater.isolation.parcel import Parcel, StaysHere, pack, unpack

# ruff: noqa: ANN401 - functions and arguments are the user's


def packed(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    stays_here: StaysHere | None = None,
) -> Parcel:
    """The call as a parcel; an error names the part that cannot be sent."""
    try:
        return pack((function, args, dict(kwargs), keras_models.registered()), stays_here)
    except Exception as error:  # noqa: BLE001 - pickling raises whatever it meets
        raise _culprit(function, args, kwargs, error, stays_here) from None


def make(
    parcel: Parcel,
    load: Callable[[int], Any] | None = None,
    *,
    before: Callable[[], None] = lambda: None,
) -> Any:
    """Make the call, here; `before` it, when all that it needs has been imported."""
    function, args, kwargs, registered = unpack(parcel, load)
    function = inner(function)
    _publish(function)
    keras_models.register(registered)
    before()
    return function(*args, **kwargs)


def inner(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself, where it is wrapped to run in a process of its own."""
    return getattr(function, "__isolated__", function)


def _publish(function: Callable[..., Any]) -> None:
    """Let `__main__` be the caller's script, as far as it came along: pickle looks there."""
    if getattr(function, "__module__", None) == "__main__":
        names = sys.modules["__main__"].__dict__
        for name, value in getattr(function, "__globals__", {}).items():
            names.setdefault(name, value)


def _culprit(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    error: Exception,
    stays_here: StaysHere | None,
) -> NotPicklable:
    """Which part of the call could not be pickled: each is tried alone."""
    name = getattr(function, "__qualname__", repr(function))
    for told, part in _parts(function, args, kwargs):
        try:
            pack(part, stays_here)
        except Exception as reason:  # noqa: BLE001
            return NotPicklable(
                f"{told} of `{name}` cannot be sent to another process",
                received=f"a {type(part).__qualname__}: {reason}",
                advice="create it inside the function, or send what it is made from",
            )
    return NotPicklable(
        f"The call of `{name}` cannot be sent to another process", received=str(error)
    )


def _parts(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    for number, value in enumerate(args, start=1):
        yield f"Argument {number}{_parameter(function, number)}", value
    for name, value in kwargs.items():
        yield f"Argument `{name}`", value
    for name, value in _used_by(inner(function)).items():
        yield f"The variable `{name}`, used in the body", value
    yield "The body", function


def _parameter(function: Callable[..., Any], number: int) -> str:
    try:
        names = [*inspect.signature(inner(function)).parameters]
        return f", `{names[number - 1]}`,"
    except (TypeError, ValueError, IndexError):
        return ""


def _used_by(function: Callable[..., Any]) -> dict[str, Any]:
    """Variables of the surroundings that travel with a function."""
    while isinstance(function, functools.partial):
        function = function.func
    if not isinstance(function, FunctionType):
        return {}
    found = inspect.getclosurevars(function)
    used = {**found.nonlocals, **found.globals}
    return {name: value for name, value in used.items() if not isinstance(value, ModuleType)}
