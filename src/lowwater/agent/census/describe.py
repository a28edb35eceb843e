"""Tells in words what an object is and where the program defines it; runs no code of its own."""

import functools
import sys
from inspect import CO_GENERATOR
from types import (
    AsyncGeneratorType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    MethodType,
    ModuleType,
    TracebackType,
)
from typing import Any, Protocol

from lowwater.agent.census.kinds import (
    bases_of,
    derives,
    kind_of,
    loaded_type,
    module_of,
    qualname_of,
)
from lowwater.agent.census.references import OPEN
from lowwater.agent.census.roots import namespace
from lowwater.model import WITH_GRAPH, Step
from lowwater.model.interruption import let_through

_MOST_KINDS = 12
_MOST_DECORATORS = 20
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
    kinds = tuple(type_name(base) for base in bases_of(kind)[:_MOST_KINDS] if base is not object)
    if kind is not FrameType:
        return Step(edge, type_name(kind), kinds, about(thing), where(thing, lines))
    if _feeds_a_library(thing, lines):
        kinds = *kinds, type_name(GeneratorType)
    return Step(edge, type_name(kind), kinds, about_frame(thing, lines), where(thing, lines))


def type_name(kind: type) -> str:
    """The full name of a class; built-in ones go without their module."""
    module, name = module_of(kind), qualname_of(kind)
    return name if module in (None, "builtins") else f"{module}.{name}"


def about(thing: Any) -> str:  # noqa: ANN401
    """What can be said of an object without asking it."""
    try:
        return _about(thing)
    except Exception as error:  # noqa: BLE001 - a tensor that was deleted, say
        let_through(error)
        return ""


def _about(thing: Any) -> str:  # noqa: ANN401, PLR0911 - one line per kind
    kind = kind_of(thing)
    if kind in OPEN or kind in (tuple, frozenset):
        return f"{len(thing):,} item{'' if len(thing) == 1 else 's'}"
    if kind in (str, bytes, bytearray):
        return f"length {len(thing):,}"
    if derives(kind, ModuleType):
        name = namespace(thing).get("__name__")
        return name if type(name) is str else ""
    if kind is FrameType:
        return f"{thing.f_code.co_qualname}()"
    if derives(kind, type):
        return type_name(thing)
    for array in _ARRAYS:
        base = loaded_type(*array)
        if base is not None and derives(kind, base):
            return _about_array(thing, base)
    function = _function_of(thing)
    return function.__qualname__ if function is not None else ""


def _about_array(array: Any, base: Any) -> str:  # noqa: ANN401
    # As the library tells it: a subclass of the program's may say anything.
    dtype, shape = base.dtype.__get__(array), base.shape.__get__(array)
    # NumPy and JAX say `float32`, TensorFlow `<dtype: 'float32'>`, torch `torch.float32`.
    name = getattr(dtype, "name", None)
    element = name if isinstance(name, str) else str(dtype).removeprefix("torch.")
    return f"{element} {tuple(shape)}{WITH_GRAPH if _has_graph(array, base) else ''}"


def _has_graph(tensor: Any, base: Any) -> bool:  # noqa: ANN401
    """Whether torch can still differentiate it: then it keeps all that it was computed from.

    Not asked of a subclass, which may run code of its own for each attribute.
    """
    is_torch = type(tensor) is base and module_of(base) == "torch"
    return is_torch and base.grad_fn.__get__(tensor) is not None


def where(thing: Any, lines: Lines) -> str | None:  # noqa: ANN401
    """The line of the program that made this object what it is, if it is the program's."""
    try:
        return _where(thing, lines)
    except Exception as error:  # noqa: BLE001
        let_through(error)
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
    return lines.class_line(filename, qualname_of(defined)) if filename else None


def file_of(defined: type) -> str | None:
    """The file of the module that a class says it is from."""
    module = sys.modules.get(module_of(defined) or "")
    if module is None or not derives(type(module), ModuleType):
        return None
    filename = namespace(module).get("__file__")
    return filename if type(filename) is str else None


def line_of_frame(frame: FrameType, lines: Lines) -> str | None:
    """Where a frame stands; for one of a library, where the program has called it."""
    users = _users_frame(frame, lines)
    return f"{lines.shown(users.f_code.co_filename)}:{users.f_lineno}" if users else None


def about_frame(frame: FrameType, lines: Lines) -> str:
    """The function that runs; for one of a library, what the program has called."""
    users = _users_frame(frame, lines)
    called = lines.called_at(users.f_code.co_filename, users.f_lineno) if users else ""
    return called if called and users is not frame else f"{frame.f_code.co_qualname}()"


def _feeds_a_library(frame: FrameType, lines: Lines) -> bool:
    """Whether it is a generator of which a library takes the next item at this moment."""
    caller = frame.f_back
    is_generator = bool(frame.f_code.co_flags & CO_GENERATOR)
    return is_generator and caller is not None and not lines.shown(caller.f_code.co_filename)


def _users_frame(frame: FrameType | None, lines: Lines) -> FrameType | None:
    while frame is not None and not lines.shown(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def code_of(thing: Any) -> CodeType | None:  # noqa: ANN401
    """The code of anything that wraps a Python function, `tf.function` among them."""
    code = _CODE.get(kind_of(thing))
    if code is not None:
        return getattr(thing, code)  # type: ignore[no-any-return]
    function = _function_of(thing)
    return function.__code__ if function is not None else None


_CODE: dict[type, str] = {
    GeneratorType: "gi_code",
    CoroutineType: "cr_code",
    AsyncGeneratorType: "ag_code",
}


def _function_of(thing: Any) -> FunctionType | None:  # noqa: ANN401
    """The Python function below methods, caches and decorators."""
    kind = type(thing)
    if kind is MethodType:
        thing = thing.__func__
    elif derives(kind, loaded_type(*_FUNCTION)):
        thing = thing.python_function
    elif kind is functools._lru_cache_wrapper:  # noqa: SLF001
        thing = thing.__wrapped__
    # Not `inspect.unwrap`: what is wrapped may be any object, and would be asked for more.
    for _ in range(_MOST_DECORATORS):
        inner = thing.__dict__.get("__wrapped__") if type(thing) is FunctionType else None
        # The `tf.function` of a method wraps a method of its own.
        inner = inner.__func__ if type(inner) is MethodType else inner
        if type(inner) is not FunctionType:
            break
        thing = inner
    return thing if type(thing) is FunctionType else None
