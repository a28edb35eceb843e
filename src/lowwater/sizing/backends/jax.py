"""Steps of Keras on JAX: the programs that `fit`, `evaluate` and `predict` compile."""

from collections.abc import Iterator, Mapping
from types import FunctionType
from typing import Any

from lowwater.errors import UsageError
from lowwater.model.footprint import Fixed, StepKind, StepPeak
from lowwater.model.measured import NotMeasured
from lowwater.probes.jax_memory import memory_of, place_of
from lowwater.sizing.backends._batch import bytes_of
from lowwater.sizing.backends._fixed import fixed_of
from lowwater.sizing.backends._program import abstract, notes_on, run
from lowwater.sizing.backends._trainer import NAMES, epoch_of
from lowwater.sizing.backends.jax_function import JaxFunctionSteps
from lowwater.sizing.subject import Subject

# ruff: noqa: ANN401 - JAX and Keras have no types

_WEIGHTS = ("trainable_variables", "non_trainable_variables")
_STATES = {
    StepKind.TRAIN: (*_WEIGHTS, "optimizer_variables", "metrics_variables"),
    StepKind.EVALUATE: (*_WEIGHTS, "metrics_variables"),
    StepKind.PREDICT: _WEIGHTS,
}
_CELLS = ("step_function", "_step_function")


def variables(_limit_bytes: int | None) -> Mapping[str, str]:
    """JAX' host memory has no pool and no limit: the peak is compared with the limit instead."""
    return {}


class JaxSteps:
    """The compiled programs of a model, and what they take."""

    # Each batch size is compiled, which takes longer than the steps: this much more time for it.
    patience = 4

    def __init__(self, subject: Subject) -> None:
        """In a process that exists only for this: the model is trained."""
        import jax

        self._subject = subject
        self._model = subject.model
        device = jax.devices()[0]
        self._is_host = device.platform == "cpu"
        self.place = "CPU:0" if self._is_host else place_of(device)
        self.notes = notes_on(self.place, is_watched=self._is_host)
        limit = NotMeasured("the host") if self._is_host else memory_of(device).limit_bytes
        self.device_bytes = None if isinstance(limit, NotMeasured) else limit

    def fixed(self) -> Fixed:
        """By the variables; those of the optimizer are there after a step."""
        return fixed_of(self._subject)

    def measure(self, batch_size: int, kind: StepKind = StepKind.TRAIN) -> StepPeak:
        """Compile the program of such a step as `fit` would, and run it a few times."""
        import jax

        data = jax.device_put(self._data(batch_size, kind))
        if kind is not StepKind.PREDICT:
            self._model._symbolic_build(data_batch=data)  # noqa: SLF001 - as `train_on_batch` does
        names = _STATES[kind]
        state = self._model._get_jax_state(**dict.fromkeys(names, True))  # noqa: SLF001
        program = self._jitted(kind).lower(*abstract((state, data))).compile()
        now = [state]
        del state

        def step() -> None:
            outputs, new = program(now.pop(), data)
            now.append(jax.block_until_ready((new, outputs))[0])

        try:
            made = run(program, step, is_watched=self._is_host)
        finally:
            self._give_back(names, now)
        # On an accelerator, `fit` sends the next batch before this one is done.
        ahead = 0 if self._is_host else bytes_of(data)
        peaks = tuple(peak + ahead for peak in made.peaks_bytes)
        return StepPeak(batch_size, peaks, made.step_s, kind)

    def _data(self, batch_size: int, kind: StepKind) -> Any:
        """A batch in the types that `fit` gives to its program."""
        from keras.src.backend.jax.trainer import JAXEpochIterator

        batches = epoch_of(JAXEpochIterator, self._subject, batch_size, kind)
        *_, found = next(iter(batches))
        return next(found) if hasattr(found, "__next__") else found[0]

    def _jitted(self, kind: StepKind) -> Any:
        """The very function that `fit` calls, with its donated arguments."""
        model, name = self._model, NAMES[kind]
        getattr(model, f"make_{name}_function")()
        found = next(_jitted_in(getattr(model, f"{name}_function")), None)
        if found is None:
            raise UsageError(
                "the model runs without jit, so JAX has no compiled step to measure",
                received=f"run_eagerly={model.run_eagerly}, jit_compile={model.jit_compile}",
                advice="model.compile(..., jit_compile=True)",
            )
        return found

    def _give_back(self, names: tuple[str, ...], now: list[Any]) -> None:
        """The arrays that the model had are used up: these have taken their place."""
        if now:
            self._model._jax_state = dict(zip(names, now[0], strict=True))  # noqa: SLF001
            self._model._jax_state_synced = False  # noqa: SLF001
            self._model.jax_state_sync()


STEPS = JaxSteps
FUNCTION_STEPS = JaxFunctionSteps


def _jitted_in(function: Any) -> Iterator[Any]:
    """Keras calls it from a function around it, or around that one."""
    if hasattr(function, "lower"):
        yield function
    elif isinstance(function, FunctionType):
        names = function.__code__.co_freevars
        for name, cell in zip(names, function.__closure__ or (), strict=True):
            if name in _CELLS:
                yield from _jitted_in(cell.cell_contents)
