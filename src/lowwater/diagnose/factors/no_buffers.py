"""Leave out the steps of a `tf.data` pipeline that keep elements."""

from types import ModuleType
from typing import Any

from lowwater.diagnose.change import Change
from lowwater.diagnose.factors._factor import Factor
from lowwater.diagnose.facts import Facts

# ruff: noqa: ANN401 - data sets of the program


class NoBuffers(Factor):
    """The elements are the same, in the order in which they come."""

    key = "buffers"
    name = "without cache() and shuffle()"
    cleared = "not a buffer of the pipeline"
    blamed = "a buffer of the input pipeline"
    codes = ("LW301", "LW302")
    rejects = ("LW301", "LW302")

    def why_not(self, facts: Facts) -> str | None:
        """They have to be called, in a program with or without `fit`."""
        return None if facts.buffers else "the program calls neither of them"

    def parts(self, facts: Facts) -> dict[str, str]:
        """Those that are called."""
        return {name: f"`{name}()`" for name in facts.buffers}

    def apply(self, change: Change, detail: str) -> None:
        """A method that gives the data set back as it is."""

        def place(tensorflow: ModuleType) -> None:
            for name in [detail] if detail else ["cache", "shuffle"]:
                setattr(tensorflow.data.Dataset, name, _same)

        change.when_imported("tensorflow", place)


def _same(dataset: Any, *_: Any, **__: Any) -> Any:
    return dataset
