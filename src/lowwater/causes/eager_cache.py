"""LW209 eager-cache."""

from lowwater import tallies
from lowwater.causes import _words
from lowwater.causes._cause import Account, Cause
from lowwater.causes._lines import TRAINING, grown, line_of_call, models_made, retraced
from lowwater.causes._paths import container, nearest_line
from lowwater.model import Evidence, Holder
from lowwater.upstream.eager_cache import EAGER_CACHE

_TABLES = frozenset({"scalar_cache", "ones_rank_cache", "zeros_cache"})


class EagerCache(Cause):
    """TensorFlow's own eager caches grow.

    TensorFlow keeps a prepared kernel for every operation and shape that it has run eagerly,
    and a handle for every different Python number that became a tensor. Neither has a bound.
    `predict` on ever-new lengths costs about 75 KB per length, each model built about 0.2 MB.

    Leaks:

        for length in range(8, 2000):
            model.predict(np.zeros((1, length, 16), "float32"))

    Stays flat:

        for length in range(8, 2000):
            padded = np.zeros((1, 64 * (length // 64 + 1), 16), "float32")
            model.predict(padded)
    """

    code = "LW209"
    name = "eager-cache"
    fix = EAGER_CACHE.advice
    known = EAGER_CACHE
    is_mostly_native = True

    def claims(self, holder: Holder, evidence: Evidence) -> bool:  # noqa: ARG002
        """The table of Python numbers that became tensors."""
        return container(holder).edge.strip("._") in _TABLES

    def account(self, holder: Holder, evidence: Evidence) -> Account:
        """How many new numbers there were."""
        pace = _words.rate(holder.counts, "entry", "entries", evidence)
        message = f"TensorFlow's cache of Python numbers grows by {pace}."
        fix = "Pass numbers that change as tensors or NumPy values: `tf.constant(value)`."
        return Account(message, nearest_line(holder), "tensorflow eager context", fix)

    def in_rest(self, rest_bytes: int, evidence: Evidence) -> Account | None:  # noqa: ARG002
        """New shapes in every interval without a new trace; or new models that do not stay."""
        shapes, made = grown(evidence, tallies.SHAPES), models_made(evidence)
        if shapes is not None and retraced(evidence) is None:
            pace = _words.rise(shapes, "new shape", "new shapes", evidence)
            message = f"`{shapes.name}` is given {pace}, and TensorFlow keeps kernels for each."
            return Account(message, shapes.where, "tensorflow kernel cache")
        if made is None or made.kind == tallies.MODELS:
            return None
        message = "Models are built again and again, and TensorFlow keeps kernels for each."
        where = made.where or line_of_call(evidence, TRAINING)
        return Account(message, where, "tensorflow kernel cache")
