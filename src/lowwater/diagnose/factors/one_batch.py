"""One repeated batch in the place of the input pipeline."""

import sys
from functools import partial
from types import ModuleType
from typing import Any

from lowwater.diagnose.backends import backend_of
from lowwater.diagnose.callers import is_of_the_program
from lowwater.diagnose.change import Change
from lowwater.diagnose.factors._factor import Factor
from lowwater.diagnose.facts import Facts
from lowwater.diagnose.look import STEPS_OF
from lowwater.diagnose.one_pipeline import reuse_pipelines
from lowwater.diagnose.repeated import Repeated
from lowwater.model.frameworks import KERAS

_PIPELINES = frozenset({"tf.data", "PyDataset", "generator", "DataLoader"})


class OneBatch(Factor):
    """The first batch again and again: the same shapes, the same number of steps."""

    key = "one-batch"
    name = "with one repeated batch"
    cleared = "not the input pipeline"
    blamed = "the input pipeline"
    codes = ("LW304",)
    changes_amount = True
    rejects = ("LW303",)
    covers = ("buffers", "generator")

    def why_not(self, facts: Facts) -> str | None:
        """Arrays are no pipeline."""
        if facts.iterates_datasets or _PIPELINES & {*facts.inputs}:
            return None
        return "Keras is given arrays" if facts.inputs else "the program does not call fit"

    def apply(self, change: Change, detail: str) -> None:  # noqa: ARG002
        """Where Keras takes its data from; a line that makes pipelines makes one."""
        change.when_imported("tensorflow", reuse_pipelines)
        repeated = Repeated()
        change.when_imported("tensorflow", partial(_place_in_loops, repeated, change))

        def place(keras: ModuleType) -> None:
            given = partial(repeated.given, backend_of(keras))
            for call, steps in STEPS_OF.items():
                change.rebind(getattr(keras.Model, call), "x", partial(given, f"{call} x"), steps)
            validated = partial(given, "validation_data")
            change.rebind(keras.Model.fit, "validation_data", validated, "validation_steps")

        for library in KERAS:
            change.when_imported(library, place)


def _place_in_loops(repeated: Repeated, change: Change, tensorflow: ModuleType) -> None:
    """For the loops of the program over a data set; the libraries iterate as ever."""
    kind = tensorflow.data.Dataset
    iterate = kind.__iter__

    def again(dataset: Any) -> Any:  # noqa: ANN401
        caller = sys._getframe(1)  # noqa: SLF001 - `inspect` takes milliseconds
        # In a graph there are no batches yet.
        if not is_of_the_program(caller) or not tensorflow.executing_eagerly():
            return iterate(dataset)
        try:
            place = (caller.f_code.co_filename, caller.f_lineno)
            return repeated.iterated(dataset, iterate, place)
        except Exception as error:  # noqa: BLE001 - the program has to run
            change.failed(f"{type(error).__name__}: {error}")
            return iterate(dataset)

    kind.__iter__ = again
