"""LW205 gradient-registry."""

from lowwater import tallies
from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Account, Cause
from lowwater.causes._lines import TRAINING, grown, line_of_call, models_made
from lowwater.causes._paths import nearest_line
from lowwater.gauges import GRADIENTS
from lowwater.model import Evidence, Holder
from lowwater.upstream.gradient_registry import GRADIENT_REGISTRY

_HOLDER = "tensorflow gradient registry"


class GradientRegistry(Cause):
    """TensorFlow's global gradient registry keeps every graph that was traced for training.

    When Keras traces the training step of a model, TensorFlow files a function for the
    gradient in a table that lives as long as the process, `CustomGradient-…`.
    The function refers to its graph, and the graph to all others of that model.
    So a model that is built, fitted and thrown away in a loop never leaves memory completely.
    `del`, `clear_session()` and `gc.collect()` together do not help:
    measured on TensorFlow 2.21, a small model leaves 4.6 MB behind, a MobileNetV2 143 MB.

    Leaks:

        for fold in range(10):
            model = build_model()
            model.fit(x[fold], y[fold])
            del model
            keras.utils.clear_session()
            gc.collect()

    Stays flat:

        def train(fold):
            model = build_model()
            return model.fit(x[fold], y[fold]).history


        if __name__ == "__main__":
            for fold in range(10):
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    history = pool.apply(train, (fold,))
    """

    code = "LW205"
    name = "gradient-registry"
    fix = GRADIENT_REGISTRY.advice
    known = GRADIENT_REGISTRY
    is_mostly_native = True

    def claims(self, holder: Holder, evidence: Evidence) -> bool:  # noqa: ARG002
        """The path goes through TensorFlow's registry of gradients."""
        return is_in_registry(holder)

    def account(self, holder: Holder, evidence: Evidence) -> Account:
        """Which call fills the registry."""
        pace = _words.rate(holder.counts, "function", "functions", evidence)
        message = (
            f"TensorFlow's gradient registry grows by {pace}, "
            "and each keeps the graphs and weights of a model that was trained."
        )
        made = models_made(evidence)
        where = line_of_call(evidence, TRAINING) or (made.where if made else nearest_line(holder))
        return Account(message, where=where, holder=_HOLDER)

    def beside(self, codes: frozenset[str], evidence: Evidence) -> Account | None:
        """Models that the program keeps were trained, so the registry keeps their graphs too."""
        is_told = not codes.isdisjoint({self.code, "LW202", "LW207"})
        version = evidence.environment.get(GRADIENT_REGISTRY.library, "")
        if is_told or not GRADIENT_REGISTRY.is_in(version) or not _fills_with_models(evidence):
            return None
        message = (
            "TensorFlow's gradient registry holds the trained graphs of these models as well, "
            "so they will not leave memory completely when the program lets go of them."
        )
        return Account(message, where=line_of_call(evidence, TRAINING), holder=_HOLDER)


def _fills_with_models(evidence: Evidence) -> bool:
    first, last = evidence.ledger.counts.get(GRADIENTS, (0, 0))
    return first < last and grown(evidence, tallies.MODELS) is not None


def is_in_registry(holder: Holder) -> bool:
    """Whether the registry of gradients has the container."""
    until = holder.steps[: holder.container + 1]
    return any(_kinds.is_registry(step) and "gradient" in step.edge for step in until) or any(
        "CustomGradient-" in step.edge for step in holder.steps
    )
