"""`@lowwater.isolated`: every call of the function runs in a fresh process."""

import functools
import sys
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, overload

from lowwater.errors import UsageError
from lowwater.isolation.adapters import keras_tuner
from lowwater.isolation.engines import Engine, engine_of
from lowwater.isolation.limits import Duration, Limits, Size
from lowwater.isolation.outcome import MemoryStory, TrialOutcome
from lowwater.isolation.trial import Trial, attempt

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


class Isolated(Generic[_Parameters, _Result]):
    """A function whose calls run in fresh processes.

    `memory` is the story of the latest call; `run()` gives it together with the value.
    """

    def __init__(
        self, function: Callable[_Parameters, _Result], limits: Limits, engine: Engine, retries: int
    ) -> None:
        """Wrap the function; it looks like itself."""
        functools.update_wrapper(self, function)
        self._function = function
        self.limits = limits
        self.engine = engine
        self.retries = retries
        self._latest: list[MemoryStory | None] = [None]

    @property
    def __isolated__(self) -> Callable[_Parameters, _Result]:
        """The function itself. Not in `__dict__`, which a decorator around this one copies."""
        return self._function

    @property
    def memory(self) -> MemoryStory | None:
        """The story of the latest call."""
        return self._latest[0]

    def __call__(self, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        """Call it in a fresh process; its memory is free when this returns."""
        value: _Result = self.run(*args, **kwargs).get()
        return value

    def run(self, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> TrialOutcome:
        """Like a call, but returns the outcome: the value or the error, and the memory."""
        trial = Trial(self, args, kwargs, self.limits)
        outcome = attempt(trial, self.engine, self.retries)
        self._latest[0] = outcome.memory
        return outcome

    def __get__(self, owner: object, kind: type | None = None) -> Any:  # noqa: ANN401
        """As a method: the object is sent along, and what the call changes in it is lost."""
        return self if owner is None else self.bound(owner)

    def bound(self, *args: Any, **kwargs: Any) -> "Isolated[..., _Result]":  # noqa: ANN401
        """Like `functools.partial`, with the limits of this one and its story."""
        function = functools.partial(self._function, *args, **kwargs)
        bound = Isolated(function, self.limits, self.engine, self.retries)
        functools.update_wrapper(bound, self._function).__wrapped__ = function
        bound._latest = self._latest
        return bound

    def __reduce__(self) -> str | tuple[Any, ...]:
        # By its name where a fresh process finds it again, as Python does with functions.
        # A partial, and an object that can be called, have no name.
        module, name = sys.modules.get(self.__module__), str(vars(self).get("__qualname__"))
        if self.__module__ != "__main__" and getattr(module, name, None) is self:
            return name
        return Isolated, (self._function, self.limits, self.engine, self.retries)


@overload
def isolated(
    function: Callable[_Parameters, _Result],
    /,
    *,
    timeout: Duration = None,
    memory: Size = None,
    device_memory: Size = None,
    retries: int = 0,
    engine: str | Engine = "local",
    **options: Any,  # noqa: ANN401
) -> Isolated[_Parameters, _Result]: ...
@overload
def isolated(
    *,
    timeout: Duration = None,
    memory: Size = None,
    device_memory: Size = None,
    retries: int = 0,
    engine: "str | Engine" = "local",
    **options: Any,  # noqa: ANN401
) -> "Callable[[Callable[_Parameters, _Result]], Isolated[_Parameters, _Result]]": ...


def isolated(  # noqa: PLR0913 - each is a limit or a choice of the user's
    function: Callable[..., Any] | None = None,
    /,
    *,
    timeout: Duration = None,
    memory: Size = None,
    device_memory: Size = None,
    retries: int = 0,
    engine: str | Engine = "local",
    **options: Any,
) -> Any:
    """Run every call of a function in a fresh process, which frees all its memory when it ends.

        @lowwater.isolated(timeout="30 min", memory="8 GiB")
        def trial(units, rate):
            model = build(units, rate)
            return model.fit(x, y).history["loss"][-1]

        score = trial(64, 1e-3)
        print(trial.memory.peak_bytes)

    The function, its arguments and its result are sent between the processes. You can send
    functions from scripts and notebooks, lambdas, closures, arrays and Keras models. What the
    function prints and logs appears here; what it raises is raised here, with its traceback. The
    process starts with the framework imported and everything else fresh, so set seeds, policies
    and other settings inside the function.

    `memory` limits the process and all processes that it starts, and what TensorFlow takes of
    each GPU (`device_memory` sets the GPU limit separately); using more raises
    `ChildOutOfMemory`. After `timeout`, all its processes are killed and `ChildTimedOut` is
    raised. `retries` repeats a call that failed. `engine="ray"` runs it on a Ray cluster
    (`num_cpus=`, `num_gpus=`).

    Instead of a function you can pass a KerasTuner tuner: the trials of its search then run in
    fresh processes.
    """
    if function is not None and not (keras_tuner.is_tuner(function) or callable(function)):
        raise UsageError(
            "isolated() decorates a function",
            received=repr(function),
            advice='@lowwater.isolated(timeout="30 min", memory="8 GiB")',
        )
    limits = Limits.of(timeout, memory, device_memory)
    chosen = engine_of(engine, options)

    def decorate(function: Callable[..., Any]) -> Any:  # noqa: ANN401
        if keras_tuner.is_tuner(function):
            return keras_tuner.isolate(function, lambda run: decorate(run).run)
        return Isolated(function, limits, chosen, retries)

    return decorate if function is None else decorate(function)
