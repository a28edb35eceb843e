"""Notes what `fit` is given, for the factors that could change it, and what is written."""

import inspect
import itertools
import os
import sys
import weakref
from collections.abc import Callable
from functools import partial
from types import CodeType, ModuleType
from typing import Any

from lowwater.agent.instrumentation.keras_calls import CALLS
from lowwater.diagnose.backends import backend_of, gpus_of
from lowwater.diagnose.callers import (
    OF_LIBRARIES,
    is_function_of_the_program,
    is_of_the_program,
)
from lowwater.diagnose.change import Change
from lowwater.diagnose.facts import MANY_SHAPES, Facts
from lowwater.diagnose.inputs import kind_of_input, shapes_of_rows
from lowwater.diagnose.write_watch import WriteWatch
from lowwater.model.frameworks import KERAS, package_of

# ruff: noqa: ANN401 - the program's own objects

_PIPELINES = "tensorflow.python.data.ops.dataset_ops"
# The methods of `tf.data` that keep elements; `prefetch` keeps a handful.
BUFFERS = ("cache", "shuffle")
# Where `tf.data` is given Python code: the argument, and how TensorFlow's function is found.
PYTHON_IN_PIPELINES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "from_generator": ("generator", lambda tensorflow: tensorflow.data.Dataset.from_generator),
    "py_function": ("func", lambda tensorflow: tensorflow.py_function),
    "numpy_function": ("func", lambda tensorflow: tensorflow.numpy_function),
}
# A class of Keras that runs functions of the program.
_CARRIERS = frozenset({"LambdaCallback"})


# The calls that take data and callbacks, and the argument that counts their steps.
STEPS_OF = {"fit": "steps_per_epoch", "evaluate": "steps", "predict": "steps"}
# Several models, or several fits of one, are not counted further.
_ENOUGH = 2
_numbers = itertools.count()
# An address may be given to another model when the first is dead; a number is not.
_names: "weakref.WeakKeyDictionary[Any, int]" = weakref.WeakKeyDictionary()


class FirstLook:
    """Sees every `fit`; keeps names, never an object."""

    def __init__(
        self, learn: Callable[[dict[str, Any]], None], shown: Callable[[str], str]
    ) -> None:
        """`learn` records what became known, `shown` is how reports call a file."""
        self._learn = learn
        self._shown = shown
        self._callbacks: dict[str, str] = {}
        self._spans: dict[str, str] = {}
        self._inputs: list[str] = []
        self._buffers: list[str] = []
        self._generators: list[str] = []
        self._iterates_datasets = False
        self._models: set[int] = set()
        self._fits: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._most_fits = 0
        self._shapes: set[tuple[int, ...]] = set()
        self._backend = ""
        self._told: Facts | None = None

    def apply(self, change: Change) -> None:
        """Look at what is given to `fit`, and let it pass as it is; and at what is written."""
        WriteWatch(self._learn).install()
        for library in KERAS:
            change.when_imported(library, lambda module: self._place(module, change))
        change.when_imported(_PIPELINES, lambda module: self._place_buffers(module, change))
        change.when_imported("tensorflow", lambda module: self._place_generators(module, change))

    def _place_buffers(self, dataset_ops: ModuleType, change: Change) -> None:
        for name in BUFFERS:
            change.before(
                getattr(dataset_ops.DatasetV2, name), partial(self._saw, self._buffers, name)
            )
        change.before(dataset_ops.DatasetV2.__iter__, self._saw_loop)

    def _place_generators(self, tensorflow: ModuleType, change: Change) -> None:
        for name, (argument, find) in PYTHON_IN_PIPELINES.items():
            change.rebind(find(tensorflow), argument, partial(self._saw_generator, name))

    def _place(self, keras: ModuleType, change: Change) -> None:
        # What is placed last runs first: the callbacks, which are told of, are seen last.
        for call in STEPS_OF:
            method = getattr(keras.Model, call)
            change.rebind(method, "callbacks", self._saw_callbacks)
            change.rebind(method, "x", partial(self._saw_input, keras))
        change.rebind(keras.Model.fit, "self", self._saw_model)
        for call in CALLS:
            change.rebind(getattr(keras.Model, call), "x", self._saw_shapes)

    def _saw_shapes(self, x: Any) -> Any:
        if len(self._shapes) < MANY_SHAPES:
            self._shapes.update(shapes_of_rows(x))
            if len(self._shapes) >= MANY_SHAPES:
                self._tell()
        return x

    def _saw_callbacks(self, callbacks: Any) -> Any:
        for one in flattened(callbacks):
            if is_custom(one):
                self._saw_callback(name_of(one), one)
        self._tell()
        return callbacks

    def _saw_callback(self, name: str, callback: Any) -> None:
        if name in self._callbacks:
            return
        span = _span(callback, self._shown)
        self._spans[name] = span
        # One that carries functions has the line in its name.
        self._callbacks[name] = "" if is_carrier(callback) else span.partition("-")[0]

    def _saw(self, known: list[str], name: str) -> None:
        if name not in known:
            known.append(name)
            self._tell()

    def _saw_generator(self, name: str, function: Any) -> Any:
        if is_function_of_the_program(function):
            self._saw(self._generators, name)
        return function

    def _saw_loop(self) -> None:
        # The one that calls the method which calls this.
        if not self._iterates_datasets and is_of_the_program(sys._getframe(2)):  # noqa: SLF001
            self._iterates_datasets = True
            self._tell()

    def _saw_input(self, keras: ModuleType, x: Any) -> Any:
        self._backend = backend_of(keras)
        kind = kind_of_input(x)
        if kind not in self._inputs:
            self._inputs.append(kind)
        return x

    def _saw_model(self, model: Any) -> Any:
        self._fits[model] = self._fits.get(model, 0) + 1
        self._most_fits = min(_ENOUGH, max(self._most_fits, self._fits[model]))
        if len(self._models) < _ENOUGH:
            self._models.add(_names.setdefault(model, next(_numbers)))
        return model

    def _tell(self) -> None:
        facts = Facts(
            fits=self._most_fits,
            models=len(self._models),
            callbacks=dict(self._callbacks),
            spans=dict(self._spans),
            inputs=tuple(self._inputs),
            buffers=tuple(self._buffers),
            generators=tuple(self._generators),
            iterates_datasets=self._iterates_datasets,
            shapes=min(len(self._shapes), MANY_SHAPES),
            backend=self._backend,
            gpus=gpus_of(self._backend),
        )
        if facts != self._told:
            self._told = facts
            self._learn(facts.to_record())


def flattened(callbacks: Any) -> list[Any]:
    """What `fit` was given: one callback, several, or Keras' own list of them."""
    if callbacks is None:
        return []
    inside = getattr(callbacks, "callbacks", callbacks)
    if not isinstance(inside, list | tuple):
        return [inside]
    return [one for part in inside for one in flattened(part)]


def is_custom(callback: Any) -> bool:
    """Whether it is the program's own, or runs functions of its own."""
    kind = type(callback)
    return package_of(str(kind.__module__)) not in OF_LIBRARIES or is_carrier(callback)


def is_carrier(callback: Any) -> bool:
    """Whether it is a callback of Keras that runs functions of the program."""
    return type(callback).__name__ in _CARRIERS


def name_of(callback: Any) -> str:
    """That of its class; with the line of its functions where it carries some."""
    name = type(callback).__qualname__.rpartition("<locals>.")[-1]
    code = next(iter(_codes_in(callback)), None) if is_carrier(callback) else None
    if code is None:
        return name
    return f"{name} ({os.path.basename(code.co_filename)}:{code.co_firstlineno})"


def _codes_in(carrier: Any) -> list[CodeType]:
    """Of the functions that were given to a carrier; tf_keras fills in some that do nothing."""
    library = getattr(sys.modules.get(type(carrier).__module__), "__file__", None)
    functions = (value for name, value in vars(carrier).items() if name.startswith("on_"))
    codes = (getattr(function, "__code__", None) for function in functions)
    own = [one for one in codes if isinstance(one, CodeType) and one.co_filename != library]
    return sorted(own, key=lambda code: code.co_firstlineno)


def is_meant(callback: Any, detail: str) -> bool:
    """Whether it is the one that an experiment names, or one of all."""
    return is_custom(callback) and (not detail or name_of(callback) == detail)


def parts_of(facts: Facts) -> dict[str, str]:
    """Each callback of the program, and how it is called."""
    return {
        name: f"the callback {name} ({where})" if where else f"the callback {name}"
        for name, where in facts.callbacks.items()
    }


def spans_of(facts: Facts, detail: str) -> tuple[str, ...]:
    """Where the code of one callback is, or of all."""
    return tuple(span for name, span in facts.spans.items() if span and detail in ("", name))


def _span(callback: Any, shown: Callable[[str], str]) -> str:
    """Its first and last line, as `train.py:7-19`; empty where there is no source."""
    meant: Any = type(callback)
    if is_carrier(callback):
        meant = next(iter(_codes_in(callback)), None)
    try:
        file, (lines, first) = inspect.getsourcefile(meant), inspect.getsourcelines(meant)
    except (OSError, TypeError):
        return ""
    return f"{shown(file)}:{first}-{first + len(lines) - 1}" if file else ""
