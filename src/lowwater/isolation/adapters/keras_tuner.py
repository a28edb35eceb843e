"""KerasTuner's trials in fresh processes: the tuner stays here, each `run_trial` runs elsewhere.

    tuner = lowwater.isolated(tuner, memory="8 GiB")
    tuner.search(x, y, validation_data=(x_val, y_val))

The child has a copy of the tuner. What the library itself would hand from a worker to its chief
comes back: the results, the metrics, and hyperparameters that were met for the first time.
Checkpoints are on the disk as ever.
"""

import copy
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lowwater.errors import UserError
from lowwater.isolation.local.result import Kind, Result, result_of, value_of
from lowwater.isolation.outcome import MemoryStory, TrialOutcome
from lowwater.isolation.parcel import Parcel

# ruff: noqa: ANN401 - KerasTuner's types, which may not be there

# Of a trial: what running it may change.
_CHANGED_BY_RUNNING = ("hyperparameters", "metrics", "score", "best_step")


def is_tuner(thing: Any) -> bool:
    """Whether it is a tuner of KerasTuner; if that is not imported, nothing is."""
    library = sys.modules.get("keras_tuner")
    return library is not None and isinstance(thing, library.engine.base_tuner.BaseTuner)


class IsolatedRun:
    """Stands in the place of the tuner's `run_trial`; `memory` is the story of the latest."""

    def __init__(self, tuner: Any, call: Callable[..., TrialOutcome]) -> None:
        """`call` makes a call in a fresh process."""
        self._tuner = tuner
        self._call = call
        self.memory: MemoryStory | None = None

    def __call__(self, trial: Any, *args: Any, **kwargs: Any) -> Any:
        """Run the trial; what it raises is raised here, and KerasTuner deals with it."""
        sent = copy.copy(self._tuner)
        del vars(sent)["run_trial"]  # this very object
        try:
            outcome = self._call(sent, trial, *args, **kwargs)
            self.memory = outcome.memory
            told: _Told = outcome.get()
        except UserError as error:
            # The next trial would meet the same: the search has to end.
            from keras_tuner.errors import FatalError

            raise FatalError(str(error)) from error
        vars(trial).update(told.changed)
        return told.value()


def isolate(tuner: Any, call: Callable[[Callable[..., Any]], Callable[..., TrialOutcome]]) -> Any:
    """The same tuner, whose trials run in fresh processes from now on."""
    tuner.run_trial = IsolatedRun(tuner, call(run_trial))
    return tuner


@dataclass(frozen=True, slots=True)
class _Told:
    """What the child tells of its trial: also of one that failed."""

    kind: Kind
    parts: list[bytes]
    changed: dict[str, Any]

    def value(self) -> Any:
        pickled, *buffers = self.parts
        return value_of(Result(self.kind, Parcel(pickled, tuple(map(memoryview, buffers)))))


def run_trial(tuner: Any, trial: Any, *args: Any, **kwargs: Any) -> _Told:
    """In the child: run it, and tell everything that the caller has to know."""
    result = result_of(lambda: _without_models(tuner.run_trial(trial, *args, **kwargs)))
    parts = [bytes(part) for part in (result.parcel.pickled, *result.parcel.buffers)]
    return _Told(result.kind, parts, {name: getattr(trial, name) for name in _CHANGED_BY_RUNNING})


def _without_models(results: Any) -> Any:
    """Histories hold their models, which nobody asks them for: the weights are on the disk."""
    import keras

    for one in results if isinstance(results, list) else [results]:
        if isinstance(one, keras.callbacks.History):
            one.set_model(None)
    return results
