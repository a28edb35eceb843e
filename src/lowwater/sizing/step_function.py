"""A training loop of the user's own: the function that makes one step with one batch."""

import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

from lowwater.errors import UsageError
from lowwater.sizing.samples import Samples, as_array, leaves, mapped
from lowwater.sizing.subject import Subject

# ruff: noqa: ANN401 - functions and batches are the user's

_EXAMPLE = "lowwater.footprint(train_step, (x, y))"
_BACKENDS = {"tensorflow": "tensorflow", "jax": "jax", "jaxlib": "jax", "torch": "torch"}
# So deep is a step looked into for what it computes with.
_DEPTH = 3


@dataclass(frozen=True, slots=True)
class StepFunction:
    """`function` takes the parts of a batch: several arguments where it is given as a tuple.

    `has_tensors` says whether they were tensors of the framework, and not arrays of NumPy.
    """

    function: Callable[..., Any]
    has_tensors: bool

    @property
    def name(self) -> str:
        """As the program calls it."""
        inner = self.function
        while isinstance(inner, functools.partial):
            inner = inner.func
        return str(getattr(inner, "__name__", type(inner).__name__))


def subject_of_step(function: Callable[..., Any], batch: Any) -> Subject:
    """The step, and samples of its batch."""
    parts = batch if isinstance(batch, tuple) else (batch,)
    given = [leaf for part in parts for leaf in leaves(part)]
    backend = _backend(function, given)
    has_tensors = any(_framework(type(leaf)) is not None for leaf in given)
    return Subject(StepFunction(function, has_tensors), _samples(parts), backend)


def is_step_function(thing: Any) -> bool:
    """Whether it is a function rather than a model; a layer or a module can be called as well."""
    keras, torch = sys.modules.get("keras"), sys.modules.get("torch")
    models = (
        getattr(keras, "Layer", None),
        getattr(getattr(torch, "nn", None), "Module", None),
        type,
    )
    kinds = tuple(kind for kind in models if isinstance(kind, type))
    return callable(thing) and not isinstance(thing, kinds)


def _samples(parts: tuple[Any, ...]) -> Samples:
    if not parts or any(part is None for part in parts):
        raise UsageError("a step needs a batch", advice=_EXAMPLE)
    arrays = tuple(mapped(as_array, part) for part in parts)
    shapes = [leaf.shape for part in arrays for leaf in leaves(part)]
    counts = {shape[0] if shape else None for shape in shapes}
    if len(counts) != 1 or None in counts:
        raise UsageError(
            "the arrays of the batch differ in their first dimension, "
            "so no batch of another size can be made from them",
            received=", ".join(map(str, shapes)),
            advice="put everything else into the function: "
            "functools.partial(train_step, params), or a closure",
        )
    [count] = counts
    if not count:
        raise UsageError("a step needs a batch", received="0 samples")
    return Samples(arrays, count, "the batch", count)


def _backend(function: Callable[..., Any], given: list[Any]) -> str:
    """By the function itself, its batch, what it uses; last by the backend of Keras."""
    signs = (
        *(_framework(type(one)) for one in _layers(function)),
        *(_framework(type(leaf)) for leaf in given),
        *_used_by(function, _DEPTH),
    )
    found = next((one for one in signs if one is not None), None)
    if found is not None:
        return found
    keras: Any = sys.modules.get("keras")
    if keras is None:
        raise UsageError(
            "the framework of this function is not clear",
            received=repr(function)[:80],
            advice="give it tensors of TensorFlow, JAX or torch",
        )
    return str(keras.backend.backend())


def _layers(function: Any) -> Iterator[Any]:
    """A partial, and what is in it."""
    while isinstance(function, functools.partial):
        yield from (*function.args, *function.keywords.values())
        function = function.func
    yield function


def _framework(kind: type) -> str | None:
    return _BACKENDS.get(str(kind.__module__).partition(".")[0])


def _used_by(function: Any, depth: int) -> Iterator[str | None]:
    """What the variables are that a function uses, and those of the functions it calls."""
    *_, inner = _layers(function)
    inner = inspect.unwrap(inner) if callable(inner) else inner
    if not isinstance(inner, FunctionType) or not depth:
        return
    found = inspect.getclosurevars(inner)
    used = [*found.nonlocals.values(), *found.globals.values()]
    for one in used:
        if isinstance(one, ModuleType):
            yield _BACKENDS.get(one.__name__.partition(".")[0])
        elif not isinstance(one, type):
            yield _framework(type(one)) or _of_keras(one)
    for one in used:
        yield from _used_by(one, depth - 1)


def _of_keras(thing: Any) -> str | None:
    keras: Any = sys.modules.get("keras")
    is_keras = keras is not None and type(thing).__module__.partition(".")[0] == "keras"
    return str(keras.backend.backend()) if is_keras else None


def arguments(parts: tuple[Any, ...], tensor: Callable[[Any], Any] | None) -> tuple[Any, ...]:
    """The batch as the function wants it: arrays, or tensors made of them."""
    return parts if tensor is None else tuple(mapped(tensor, part) for part in parts)


def options_of(given: Mapping[str, Any]) -> None:
    """A step has its data in it; what `fit` would take is refused."""
    wrong = [name for name, value in given.items() if value is not None]
    if wrong:
        raise UsageError(
            "a step function takes one batch and no other data",
            received=", ".join(wrong),
            advice=_EXAMPLE,
        )
