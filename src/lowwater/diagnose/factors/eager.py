"""Run everything eagerly: no graph is traced."""

from types import ModuleType

from lowwater.diagnose.change import Change
from lowwater.diagnose.factors._factor import Factor
from lowwater.diagnose.facts import Facts


class Eager(Factor):
    """Without `tf.function` and `jax.jit`; slower, and with the same numbers up to rounding."""

    key = "eager"
    name = "eager, without tf.function or jit"
    cleared = "not tracing"
    blamed = "tracing functions"
    codes = ("LW202", "LW207", "LW210", "LW214")
    changes_amount = True
    rejects = ("LW202",)
    # What the known leaks keep is kept for every trace, and every new model is traced.
    covers = ("mended", "same-model", "one-shape")

    def why_not(self, facts: Facts) -> str | None:
        """Only TensorFlow and JAX trace like this."""
        if facts.fits and facts.backend == "torch":
            return "torch runs eagerly anyway"
        if facts.has_tensorflow or facts.has_jax:
            return None
        return "the program uses neither TensorFlow nor JAX"

    def apply(self, change: Change, detail: str) -> None:  # noqa: ARG002
        """As soon as a framework is there; a model that is compiled to run so anyway stays so."""
        change.when_imported("tensorflow", _place_in_tensorflow)
        change.when_imported("jax", _place_in_jax)


def _place_in_tensorflow(tensorflow: ModuleType) -> None:
    tensorflow.config.run_functions_eagerly(True)  # noqa: FBT003 - TensorFlow's own signature


def _place_in_jax(jax: ModuleType) -> None:
    jax.config.update("jax_disable_jit", True)  # noqa: FBT003 - JAX's own signature
