"""A step of the user's own on JAX: the program that its `jax.jit` compiles."""

import functools
from typing import Any

from lowwater.errors import UsageError
from lowwater.model.footprint import Fixed, StepKind, StepPeak
from lowwater.probes.jax_memory import place_of
from lowwater.sizing.backends._batch import batch_of, bytes_of
from lowwater.sizing.backends._program import abstract, notes_on, run
from lowwater.sizing.subject import Subject

# ruff: noqa: ANN401 - JAX has no types


class JaxFunctionSteps:
    """A jitted function; what a `functools.partial` holds is its state."""

    # As `JaxSteps` has it.
    patience = 4

    def __init__(self, subject: Subject) -> None:
        """Refuse what JAX does not compile as a whole."""
        import jax

        self._samples = subject.samples
        self._jitted, self._bound, self._named = _unwrapped(subject.model.function)
        if not hasattr(self._jitted, "lower"):
            raise UsageError(
                "the step function is not jitted, so JAX has no compiled step to measure",
                received=subject.model.name,
                advice="lowwater.footprint(jax.jit(train_step), (x, y))",
            )
        device = jax.devices()[0]
        self._is_host = device.platform == "cpu"
        self.place = "CPU:0" if self._is_host else place_of(device)
        self.notes = notes_on(self.place, is_watched=self._is_host)

    def fixed(self) -> Fixed:
        """Which of the state are weights is not known: so gradients are at most all of it."""
        import jax

        state = jax.tree.leaves((self._bound, self._named))
        size = sum(int(getattr(leaf, "nbytes", 0)) for leaf in state)
        return Fixed(size, 0, size, self._samples.sample_bytes)

    def measure(self, batch_size: int, kind: StepKind = StepKind.TRAIN) -> StepPeak:
        """Compile it for this batch, and run it a few times with copies of what it may consume."""
        import jax

        batch = batch_of(self._samples.parts, batch_size)
        state = ((*self._bound, *jax.device_put(batch)), self._named)
        arguments, named = abstract(state)
        program = self._jitted.lower(*arguments, **named).compile()
        fresh: list[Any] = []

        def before() -> None:
            fresh.append(jax.block_until_ready(jax.tree.map(_copied, state)))

        def step() -> None:
            arguments, named = fresh.pop()
            jax.block_until_ready(program(*arguments, **named))

        made = run(program, step, is_watched=self._is_host, before=before)
        ahead = 0 if self._is_host else bytes_of(batch)
        peaks = tuple(peak + ahead for peak in made.peaks_bytes)
        return StepPeak(batch_size, peaks, made.step_s, kind)


def _unwrapped(function: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    arguments: tuple[Any, ...] = ()
    named: dict[str, Any] = {}
    while isinstance(function, functools.partial):
        arguments = (*function.args, *arguments)
        named = {**function.keywords, **named}
        function = function.func
    return function, arguments, named


def _copied(leaf: Any) -> Any:
    return leaf.copy() if hasattr(leaf, "copy") else leaf
