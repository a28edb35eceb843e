"""Run everything eagerly: no graph is traced."""

from types import ModuleType

from lowwater.experiments.change import Change
from lowwater.experiments.factors._factor import Factor
from lowwater.experiments.facts import Facts


class Eager(Factor):
    """Without `tf.function`; slower, and with the same numbers up to rounding."""

    key = "eager"
    name = "eager, no tf.function"
    cleared = "not tracing"
    blamed = "the tracing of functions"
    codes = ("LW202", "LW207")
    rejects = ("LW202",)
    # What the known leaks keep is kept for every trace, and every new model is traced.
    covers = ("mended", "same-model")

    def why_not(self, facts: Facts) -> str | None:
        """Only TensorFlow traces like this."""
        if not facts.has_tensorflow:
            return "the program does not use TensorFlow"
        if facts.fits and facts.backend != "tensorflow":
            return f"only for the TensorFlow backend (here: {facts.backend})"
        return None

    def apply(self, change: Change, detail: str) -> None:  # noqa: ARG002
        """As soon as TensorFlow is there."""

        def place(tensorflow: ModuleType) -> None:
            tensorflow.config.run_functions_eagerly(True)  # noqa: FBT003 - TensorFlow's own signature

        change.when_imported("tensorflow", place)
