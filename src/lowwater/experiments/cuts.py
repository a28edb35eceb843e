"""Shortens a program to what the statistic needs, in every experiment alike."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

from lowwater.experiments.change import Change

_LIBRARIES = ("keras", "tf_keras")


@dataclass(frozen=True, slots=True)
class Cuts:
    """How much of the program is run.

    A loop is left after `rounds`, or after `seconds` if that is later: a loop of short rounds
    needs many of them.
    """

    epochs: int = 12
    steps: int = 30
    rounds: int = 14
    seconds: float = 8.0

    def apply(self, change: Change) -> None:
        """Shorten every `fit`."""
        for library in _LIBRARIES:
            change.when_imported(library, lambda module: self._shorten(module, change))

    def is_enough(self, _line: int) -> Callable[[], bool]:
        """Tells one loop whether it has made enough rounds; it begins anew each time."""
        return _Enough(self.rounds, self.seconds)

    def _shorten(self, keras: ModuleType, change: Change) -> None:
        # `Model.fit` of Keras 3 is the backend's own.
        change.rebind(keras.Model.fit, "epochs", lambda epochs: min(epochs, self.epochs))
        change.rebind(keras.Model.fit, "steps_per_epoch", self._fewer)

    def _fewer(self, steps: int | None) -> int | None:
        # Without a number the data decide; a short data set must not run out.
        return steps if steps is None else min(steps, self.steps)


class _Enough:
    """Counts the rounds of one loop."""

    def __init__(self, rounds: int, seconds: float) -> None:
        self._rounds = rounds
        self._seconds = seconds
        self._made = 0
        self._began_s = 0.0

    def __call__(self) -> bool:
        now_s = time.monotonic()
        if self._made == 0:
            self._began_s = now_s
        if self._made >= self._rounds and now_s - self._began_s >= self._seconds:
            self._made = 0
            return True
        self._made += 1
        return False
