"""Shortens a program to what the statistic needs, in every experiment alike."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType
from typing import Any

from lowwater.agent.instrumentation.keras_calls import CALLS
from lowwater.diagnose.change import Change
from lowwater.diagnose.limits import RoundLimit, RoundLimits
from lowwater.diagnose.rounds import Rounds
from lowwater.diagnose.shorter import as_long_as, shorter
from lowwater.model.experiment import Fact
from lowwater.model.frameworks import KERAS

_ALL_STEPS = 1_000_000_000
# Where work is done that is worth to be measured; a loop without any prepares something.
_WORK: dict[str, tuple[str, str]] = {
    "tensorflow.python.eager.backprop": ("GradientTape", "__enter__"),
    "tensorflow.python.eager.polymorphic_function.polymorphic_function": ("Function", "__call__"),
    "tensorflow.python.client.session": ("BaseSession", "run"),
    # A function of the module itself.
    "torch.autograd": ("", "backward"),
}
# Is given a fact of the run, and its value.
Told = Callable[[str, str], None]


@dataclass(frozen=True, slots=True)
class Cuts:
    """How much of the program is run.

    A loop is left after `rounds`, or after `seconds` of work if that is later: a loop of short
    rounds needs many of them. Without `leaves_loops` all of them run to their end.
    """

    epochs: int = 12
    steps: int = 30
    rounds: int = 14
    seconds: float = 8.0
    leaves_loops: bool = True

    def longer(self, rounds: int) -> "Cuts":
        """Where so many more rounds would tell; at least twice as much as now."""
        return replace(
            self,
            epochs=self.epochs + max(rounds, self.epochs),
            rounds=self.rounds + max(rounds, self.rounds),
            seconds=2 * self.seconds,
        )

    def much_longer(self) -> "Cuts":
        """For a slow growth, which comes to something only after a while."""
        return replace(
            self, epochs=4 * self.epochs, rounds=4 * self.rounds, seconds=4 * self.seconds
        )

    def whole_rounds(self) -> "Cuts":
        """For a program that does not leak when it is cut: its rounds as they are, and more."""
        return replace(self.much_longer(), steps=_ALL_STEPS)

    def limits(self, rounds: Rounds, told: Told) -> RoundLimits:
        """What ends loops; the first that is left is told."""

        def left(filename: str, line: int) -> None:
            told(Fact.LOOP_LEFT, f"{filename}:{line}")

        limit = RoundLimit(self.rounds, self.seconds, self.steps, self.leaves_loops)
        return RoundLimits(limit, left, rounds)

    def apply(self, change: Change, limits: RoundLimits, told: Told) -> None:
        """Shorten every `fit`, and let the limits know of the work that is done."""
        for library in KERAS:
            change.when_imported(library, lambda m: self._shorten(m, change, limits, told))
            change.when_imported(library, lambda m: _watch_keras(m, change, limits))
        for name, place in _WORK.items():
            change.when_imported(name, partial(_watch, place, change, limits))

    def _shorten(self, keras: ModuleType, change: Change, limits: RoundLimits, told: Told) -> None:
        # `Model.fit` of Keras 3 is the backend's own. What is placed last runs first: the data
        # are cut by what the program itself has asked for.
        fit = keras.Model.fit

        def fewer_epochs(epochs: int, initial_epoch: int) -> int:
            is_inner = limits.is_in_a_warm_loop(sys._getframe(1), None)  # noqa: SLF001
            most = initial_epoch + (self.inner_epochs if is_inner else self.epochs)
            if epochs > most:
                told(Fact.EPOCHS_CUT, str(most))
            return min(epochs, most)

        change.rebind(fit, "epochs", fewer_epochs, "initial_epoch")
        change.rebind(fit, "steps_per_epoch", self._fewer)
        change.rebind(fit, "y", as_long_as, "x")
        change.rebind(fit, "sample_weight", as_long_as, "x")
        change.rebind(fit, "x", self._shorter, "steps_per_epoch", "batch_size")
        change.rebind(fit, "validation_data", self._shorter, "validation_steps", "batch_size")

    @property
    def inner_epochs(self) -> int:
        """Of a `fit` in a loop: there the rounds of the loop are what is counted."""
        return max(1, self.epochs // 4)

    def _fewer(self, steps: int | None) -> int | None:
        # Without a number the data decide, and they are cut themselves.
        return steps if steps is None else min(steps, self.steps)

    def _shorter(self, data: Any, steps: int | None, batch_size: int | None) -> Any:  # noqa: ANN401
        return shorter(data, self.steps, steps, batch_size)


def _watch_keras(keras: ModuleType, change: Change, limits: RoundLimits) -> None:
    for name in CALLS:
        change.before(getattr(keras.Model, name), limits.worked)
    change.before(keras.optimizers.Optimizer.apply_gradients, limits.worked)


def _watch(place: tuple[str, str], change: Change, limits: RoundLimits, module: ModuleType) -> None:
    kind, name = place
    change.before(getattr(getattr(module, kind) if kind else module, name), limits.worked)
