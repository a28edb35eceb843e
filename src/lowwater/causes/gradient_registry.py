"""LW205 gradient-registry."""

from typing import TYPE_CHECKING

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._lines import TRAINING, grown, line_of_call, models_made
from lowwater.causes._paths import nearest_line
from lowwater.causes.model_accumulation import ModelAccumulation
from lowwater.causes.upstream._known_leak import parse_version
from lowwater.causes.upstream.gradient_registry import GRADIENT_REGISTRY
from lowwater.model import Evidence, Holder, Tally, tallies
from lowwater.model.gauges import GRADIENTS

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from lowwater.check.source import Source
    from lowwater.model.source import SourceClaim

_HOLDER = "tensorflow gradient registry"
_UNTRAINED_FIX = (
    "Call the model itself, `model(x)`, instead of `model.predict(x)`; or write the activation "
    "as `lambda z: z * keras.ops.sigmoid(z)`, which has no custom gradient."
)
# tensorflow/tensorflow#109334 was merged after 2.21: what training files then keeps no graph.
_TRAINING_MENDED = (2, 22)


class GradientRegistry(Cause):
    """TensorFlow's global gradient registry keeps every graph that was traced for training.

    When Keras traces the training step of a model, TensorFlow stores a function for the
    gradient in a table that lives as long as the process, `CustomGradient-…`.
    The function refers to its graph, and the graph to all others of that model.
    So a model that is built, fitted and dropped in a loop never leaves memory completely.
    `del`, `clear_session()` and `gc.collect()` together do not help:
    measured on TensorFlow 2.21, a small model leaves 5.8 MB behind, a MobileNetV2 200 MB.

    Training is not the only case. TensorFlow stores every custom gradient when it is
    traced: `silu` and `swish` in `predict` too (0.1 MB for each small model built or loaded;
    `relu` and `gelu` leave nothing), `tf.recompute_grad`, and a SavedModel that holds a custom
    gradient each time it is loaded (1.4 MB for a tiny one with `silu`).
    For these, `model(x)` instead of `model.predict(x)` leaves nothing. Load a SavedModel once, or
    save it with `tf.saved_model.SaveOptions(experimental_custom_gradients=False)`.

    A release after 2.21 is expected to fix training. We tried the same change on 2.21,
    and `silu` and SavedModels still leaked.

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

    Known problems:

        Only models that are trained are found in source, not those that predict with `silu`.
        A program that uses another backend than TensorFlow is blamed, unless it sets
        `KERAS_BACKEND` itself.

    Fix safety:

        Safe: `--fix` adds `import lowwater` and `lowwater.mend()` below the imports.
        Training stays the same to the last bit.

    Applies to:

        TensorFlow 2.11 and later.
    """

    code = "LW205"
    name = "gradient-registry"
    fix = GRADIENT_REGISTRY.advice
    known = GRADIENT_REGISTRY
    is_mostly_native = True
    words = (".fit(", ".train_on_batch(", ".fit_generator(")
    words_beside = ModelAccumulation.words_beside
    measured = "5.8 MB for each small model that is built, fitted and dropped"

    def claims(self, holder: Holder, evidence: Evidence) -> bool:  # noqa: ARG002
        """The path goes through TensorFlow's registry of gradients."""
        return is_in_registry(holder)

    def account(self, holder: Holder, evidence: Evidence) -> Claim:
        """Which call fills the registry."""
        rate = _words.rate(holder.counts, "function", "functions", evidence)
        grows = f"TensorFlow's gradient registry grows by {rate}, and each keeps"
        made, trained = models_made(evidence), line_of_call(evidence, TRAINING)
        if trained is not None or (calls := _tracing(evidence)) is None:
            message = f"{grows} the graphs and weights of a trained model."
            where = trained or (made.where if made else nearest_line(holder))
            return Claim(message, where=where, holder=_HOLDER)
        message = f"{grows} a graph with a custom gradient, such as `silu` or `swish`."
        return Claim(message, calls.where, _HOLDER, _UNTRAINED_FIX)

    def beside(self, codes: frozenset[str], evidence: Evidence) -> Claim | None:
        """Models that the program keeps were trained, so the registry keeps their graphs too."""
        is_told = not codes.isdisjoint({self.code, "LW202", "LW207"})
        version = parse_version(evidence.environment.get(GRADIENT_REGISTRY.library, ""))
        if is_told or not version < _TRAINING_MENDED or not _fills_with_models(evidence):
            return None
        message = (
            "TensorFlow's gradient registry also holds the trained graphs of these models, so "
            "dropping the models does not free them completely."
        )
        return Claim(message, where=line_of_call(evidence, TRAINING), holder=_HOLDER)

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """A model is made and trained in a loop, here or in a helper, and nothing repairs it."""
        seen: set[object] = set()
        for call, loop in source.made_in_loops("model"):
            if loop not in seen and _trains(source, loop):
                if is_repaired(source):
                    return
                seen.add(loop)
                yield source.claim(
                    call,
                    "A model is built and trained in each iteration: TensorFlow's gradient "
                    "registry keeps its graphs and weights.",
                    label="stays in memory, also after `del` and `clear_session()`",
                    edits=(source.insertion_after_imports("import lowwater\n\nlowwater.mend()\n"),),
                    # What is trained stays the same to the last bit: see giveback/mend.
                    is_safe=True,
                )


def is_repaired(source: "Source") -> bool:
    """Whether the program asks Lowwater to repair or release, or uses another backend."""
    known = ("lowwater.mend", "lowwater.lifecycle", "lowwater.release", "lowwater.sessions")
    is_other = "KERAS_BACKEND" in source.file.text and "tensorflow" not in source.file.text
    is_asked = "lowwater" in source.file.text
    return is_other or (is_asked and any(source.calls_library(one, *known) for one in source.calls))


def _trains(source: "Source", loop: "ast.AST") -> bool:
    """Whether a model is trained in a loop, in a graph: an eager one is not traced."""
    is_trained = is_eager = False
    for call in source.reached(loop):
        method = source.method_of(call, "model")
        is_fit = method in ("fit", "train_on_batch", "fit_generator")
        is_trained = is_trained or (is_fit and source.is_of_loop(call.func, loop))
        is_eager = is_eager or any(
            one.arg == "run_eagerly" and getattr(one.value, "value", None) is True
            for one in call.keywords
        )
    return is_trained and not is_eager


def _tracing(evidence: Evidence) -> Tally | None:
    """The call that traces models without training them."""
    return grown(evidence, tallies.CALLS, "predict", "evaluate")


def _fills_with_models(evidence: Evidence) -> bool:
    first, last = evidence.ledger.counts.get(GRADIENTS, (0, 0))
    return first < last and grown(evidence, tallies.MODELS) is not None


def is_in_registry(holder: Holder) -> bool:
    """Whether the registry of gradients has the container."""
    until = holder.steps[: holder.container + 1]
    return any(_kinds.is_registry(step) and "gradient" in step.edge for step in until) or any(
        "CustomGradient-" in step.edge for step in holder.steps
    )
