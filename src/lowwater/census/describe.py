"""Tells in words what an object is and where the program defines it; runs no code of its own."""

import functools
import inspect
import sys
from types import (
    CodeType,
    FrameType,
    FunctionType,
    GeneratorType,
    MethodType,
    ModuleType,
    TracebackType,
)
from typing import Any, Protocol

from lowwater.census.references import OPEN
from lowwater.census.roots import namespace
from lowwater.census.sizes import derives, loaded_type
from lowwater.model import Step

_MOST_KINDS = 12
_FUNCTION = ("tensorflow.python.eager.polymorphic_function.polymorphic_function", "Function")
_ARRAYS = (
    ("numpy", "ndarray"),
    ("tensorflow.python.framework.ops", "EagerTensor"),
    ("tensorflow.python.ops.resource_variable_ops", "BaseResourceVariable"),
    ("jax._src.array", "ArrayImpl"),
    ("torch", "Tensor"),
)


class Lines(Protocol):
    """Knows the files of the program."""

    def shown(self, filename: str) -> str | None:
        """How a file of the program's own is called; None for any other."""
        ...

    def class_line(self, filename: str, qualname: str) -> str | None:
        """Where a class is defined, as `train.py:6`."""
        ...

    def called_at(self, filename: str, line: int) -> str:
        """What a line of the program calls, as `model.fit(…)`."""
        ...


def step(edge: str, thing: Any, lines: Lines) -> Step:  # noqa: ANN401
    """One object of a leak trace."""
    kind = type(thing)
    return Step(
        edge,
        type_name(kind),
        tuple(type_name(base) for base in kind.__mro__[:_MOST_KINDS] if base is not object),
        about(thing) if kind is not FrameType else about_frame(thing, lines),
        where(thing, lines),
    )


def type_name(kind: type) -> str:
    """The full name of a class; built-in ones go without their module."""
    # `__module__` may be anything in a class of the user's, a property even.
    module = type.__dict__["__dict__"].__get__(kind).get("__module__")
    name = type.__dict__["__qualname__"].__get__(kind)
    if not isinstance(module, str):
        module = type.__dict__["__module__"].__get__(kind)
    return name if module == "builtins" or not isinstance(module, str) else f"{module}.{name}"


def about(thing: Any) -> str:  # noqa: ANN401
    """What can be said of an object without asking it."""
    try:
        return _about(thing)
    except Exception:  # noqa: BLE001 - a tensor that was deleted, say
        return ""


def _about(thing: Any) -> str:  # noqa: ANN401, PLR0911 - one line per kind
    kind = type(thing)
    if kind in OPEN or kind in (tuple, frozenset):
        return f"{len(thing):,} item{'' if len(thing) == 1 else 's'}"
    if kind in (str, bytes, bytearray):
        return f"length {len(thing):,}"
    if derives(kind, ModuleType):
        return str(namespace(thing).get("__name__", ""))
    if kind is FrameType:
        return f"{thing.f_code.co_qualname}()"
    if derives(kind, type):
        return type_name(thing)
    if any(derives(kind, loaded_type(*array)) for array in _ARRAYS):
        return f"{_element_type(thing)} {tuple(thing.shape)}"
    named = thing.__func__ if kind is MethodType else getattr(thing, "__wrapped__", thing)
    return named.__qualname__ if type(named) is FunctionType else ""


def _element_type(array: Any) -> str:  # noqa: ANN401
    # NumPy and JAX say `float32`, TensorFlow `<dtype: 'float32'>`, torch `torch.float32`.
    name = getattr(array.dtype, "name", None)
    return name if isinstance(name, str) else str(array.dtype).removeprefix("torch.")


def where(thing: Any, lines: Lines) -> str | None:  # noqa: ANN401
    """The line of the program that made this object what it is, if it is the program's."""
    try:
        return _where(thing, lines)
    except Exception:  # noqa: BLE001
        return None


def _where(thing: Any, lines: Lines) -> str | None:  # noqa: ANN401
    kind = type(thing)
    if kind is FrameType:
        return line_of_frame(thing, lines)
    if kind is TracebackType:
        shown = lines.shown(thing.tb_frame.f_code.co_filename)
        return f"{shown}:{thing.tb_lineno}" if shown else None
    code = code_of(thing)
    if code is not None:
        shown = lines.shown(code.co_filename)
        return f"{shown}:{code.co_firstlineno}" if shown else None
    defined = thing if derives(kind, type) else kind
    filename = file_of(defined)
    return lines.class_line(filename, defined.__qualname__) if filename else None


def file_of(defined: type) -> str | None:
    """The file of the module that a class says it is from."""
    module = sys.modules.get(str(vars(defined).get("__module__")))
    if module is None or not derives(type(module), ModuleType):
        return None
    filename = namespace(module).get("__file__")
    return filename if isinstance(filename, str) else None


def line_of_frame(frame: FrameType, lines: Lines) -> str | None:
    """Where a frame stands; for one of a library, where the program has called it."""
    users = _users_frame(frame, lines)
    return f"{lines.shown(users.f_code.co_filename)}:{users.f_lineno}" if users else None


def about_frame(frame: FrameType, lines: Lines) -> str:
    """The function that runs; for one of a library, what the program has called."""
    users = _users_frame(frame, lines)
    called = lines.called_at(users.f_code.co_filename, users.f_lineno) if users else ""
    return called if called and users is not frame else f"{frame.f_code.co_qualname}()"


def _users_frame(frame: FrameType | None, lines: Lines) -> FrameType | None:
    while frame is not None and not lines.shown(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def code_of(thing: Any) -> CodeType | None:  # noqa: ANN401
    """The code of anything that wraps a Python function, `tf.function` among them."""
    kind = type(thing)
    if kind is GeneratorType:
        return thing.gi_code  # type: ignore[no-any-return]
    if kind is MethodType:
        thing = thing.__func__
    if derives(kind, loaded_type(*_FUNCTION)):
        thing = thing.python_function
    if kind is functools._lru_cache_wrapper:  # noqa: SLF001
        thing = thing.__wrapped__
    if type(thing) is FunctionType:
        thing = inspect.unwrap(thing)
    code = getattr(thing, "__code__", None) if type(thing) is FunctionType else None
    return code if isinstance(code, CodeType) else None
