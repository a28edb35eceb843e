"""Run the garbage collector all the time."""

import gc
from types import ModuleType

from lowwater.experiments.change import Change
from lowwater.experiments.factors._factor import Factor


class Collected(Factor):
    """After every epoch and every call of the framework."""

    key = "collected"
    name = "collected in every round"
    cleared = "not garbage that waits"
    blamed = "cycles that wait for the collector"
    codes = ("LW108",)

    def apply(self, change: Change, detail: str) -> None:  # noqa: ARG002
        """The collector is asked for more often, and never turned off."""
        gc.set_threshold(200, 5, 2)

        def place(keras: ModuleType) -> None:
            for name in ("fit", "predict", "evaluate", "train_on_batch"):
                change.rebind(getattr(keras.Model, name), "x", _collect_before)

        for library in ("keras", "tf_keras"):
            change.when_imported(library, place)


def _collect_before(x: object) -> object:
    gc.collect()
    return x
