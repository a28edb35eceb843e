"""LW209 eager-cache."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from lowwater.causes import _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._growth import growth_bytes
from lowwater.causes._lines import (
    TRAINING,
    altogether,
    grown,
    line_of_call,
    models_made,
    retraced,
    risen,
)
from lowwater.causes._rate import GrowthRate
from lowwater.causes.upstream.eager_cache import EAGER_CACHE
from lowwater.model import Evidence, Tally, tallies
from lowwater.model.policy import POLICY
from lowwater.model.units import format_bytes

if TYPE_CHECKING:
    import ast

    from lowwater.check.source import Source
    from lowwater.model.source import SourceClaim

_KERNELS = "tensorflow kernel cache"
_NUMBERS = "tensorflow cache of numbers"
_OTHERS: Final = frozenset({"jax", "torch"})
# Measured on TensorFlow 2.21: what each new seed, name and number leaves behind.
_SEED_BYTES: Final = 36_500
_NAME_BYTES: Final = 35_000
_NUMBER_BYTES: Final = 560
# A larger operation may leave a few times as much; a shape, with oneDNN and a large model, more.
# A number has one size.
_AT_MOST = 3
_NUMBER_AT_MOST = 1.5
_MOST_SHAPE_BYTES: Final = 2 << 20
# One new shape now and then, from a last batch that is shorter, is no growth.
_LEAST_SHAPES_PER_ROUND = 0.5
# With less than this of the growth explained, the greater part has another cause.
_LEAST_PART = 0.3
# Calls that make a kernel of their own each time.
_EAGER_CALLS: Final = ("py_function", "numpy_function")

_SEED_FIX = (
    "Draw from a generator: `draws = tf.random.Generator.from_seed(42)`, `draws.normal(shape)`; "
    "or draw inside a `tf.function`."
)
_SHAPE_FIX = (
    "Use one input shape, or a few: for example, pad to the next multiple of 64. "
    "`TF_ENABLE_ONEDNN_OPTS=0` turns off what oneDNN keeps for each shape."
)
_KERNEL_FIX = (
    "Find what is new in each round. If a loss adds up a changing number of terms, compute all "
    "terms at once, as one batch: TensorFlow keeps a kernel for each number of terms. Otherwise "
    "call `keras.utils.clear_session()` now and then."
)
_CALL_FIX = (
    "Call the function inside one `tf.function`, which registers it once; or call "
    "`keras.utils.clear_session()` now and then."
)
_NAME_FIX = (
    "Create them once, before the loop, or give them fixed names. `keras.utils.clear_session()` "
    "frees what was kept so far."
)
_NUMBER_FIX = (
    "Pass changing numbers as NumPy values: `np.float32(value)`. `tf.constant(value)` and "
    "`np.float64(value)` fill the same cache."
)

_SEEDS = (
    "tensorflow.random.set_seed", "keras.utils.set_random_seed", "tensorflow.set_random_seed",
)  # fmt: skip
_SEED_NAMES = ("set_seed", "set_random_seed")
_DRAWS = ("normal", "uniform", "truncated_normal", "shuffle", "gamma", "poisson", "categorical")
_SEEDED_FIX = (
    "Draw from a generator: `draws = tf.random.Generator.from_seed(42)` once, then "
    "`draws.normal(shape)`."
)


class EagerCache(Cause):
    """TensorFlow's own eager caches grow.

    TensorFlow keeps a prepared kernel for every eager operation, for each combination of shapes
    and attributes, and a handle for every different Python number that became a tensor.
    Neither cache has a limit. Measured on TensorFlow 2.21:
    under a global seed (`tf.random.set_seed`, `keras.utils.set_random_seed`) each eager
    `tf.random.…` call has its own seed, and so its own kernel: 36 KB per call.
    The name of a variable is an attribute too: 36 KB for each new name, 0.2 MB for each small
    model that is built, 70 KB for each `model.save` or `load_weights`.
    `predict` on changing lengths costs about 75 KB per length. On processors where oneDNN is on,
    much of it belongs to oneDNN, which stops at about two thousand shapes.
    The number of terms in a sum is such an attribute too: the gradient of a loss that adds one
    term per step of an episode leaves 0.4 MB for each new length.
    A new Python number costs 0.6 KB. `clear_session()` frees everything but these numbers.

    TensorFlow does not report how much the kernel cache holds. If memory rose, Lowwater empties
    the cache when the program ends: the memory that this frees is what the cache held.

    Leaks:

        tf.random.set_seed(42)
        for step in range(10_000):
            noise = tf.random.normal((32, 8))

    Stays flat:

        draws = tf.random.Generator.from_seed(42)
        for step in range(10_000):
            noise = draws.normal((32, 8))

    Known problems:

        Only random numbers under a global seed and eager `py_function` calls are found in source.
        Changing shapes and Python numbers are found when the program runs.
        A seed that another file sets is not seen.

    Fix safety:

        There is no automatic fix: a generator draws other numbers.

    Applies to:

        TensorFlow 2.11 and later.
    """

    code = "LW209"
    name = "eager-cache"
    fix = EAGER_CACHE.advice
    known = EAGER_CACHE
    is_mostly_native = True
    words = ("random.", "py_function")
    words_beside = ("set_seed(", "set_random_seed(", "py_function")
    measured = "36 KB per call, 40 KB per call of a `py_function`"

    def in_rest(self, rest_bytes: int, evidence: Evidence) -> Claim | None:
        """New seeds, shapes, names or numbers in every interval, and enough of them."""
        if _computes_elsewhere(evidence):
            return None
        held_bytes = _held_between_censuses(evidence)
        found = max(_counted(evidence), key=lambda one: one.bytes, default=None)
        if found is not None and found.bytes >= _LEAST_PART * rest_bytes:
            return replace(found.account, most_bytes=found.most_bytes)
        if held_bytes is not None and held_bytes >= _LEAST_PART * rest_bytes:
            account = _of_shapes(evidence) or _of_kernels(evidence)
            # They need not have come evenly.
            return replace(account, most_bytes=round(POLICY.alike * held_bytes))
        # oneDNN keeps kernels of its own for each shape; those of models would have been there.
        return _of_shapes(evidence) or (_of_models(evidence) if held_bytes is None else None)

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """An eager loop draws random numbers under a global seed, or runs a `py_function`."""
        for call in _seeded(source):
            yield source.claim(
                call,
                f"`{source.text_of(call.func)}` draws under a global seed in every iteration: "
                "TensorFlow keeps a new kernel for each call.",
                label="36 KB per call, until `clear_session()`",
                fix=_SEEDED_FIX,
            )
        for call in source.calls_of("py_function"):
            is_tensorflows = source.calls_library(call, "tensorflow.py_function")
            # An eager `numpy_function` calls the Python function itself, and needs no kernel.
            if is_tensorflows and _is_repeated(source, call):
                yield source.claim(
                    call,
                    f"`{source.text_of(call.func)}` runs eagerly in every iteration: TensorFlow "
                    "keeps a new kernel for each call.",
                    label="40 KB per call, until `clear_session()`",
                    fix="Call the Python function itself: in eager mode it needs no wrapper.",
                )


@dataclass(frozen=True, slots=True)
class _Counted:
    """What was counted, and the bytes that it should have taken, and can have taken."""

    account: Claim
    bytes: int
    at_most: float = _AT_MOST

    @property
    def most_bytes(self) -> int:
        return round(self.at_most * self.bytes)


def _counted(evidence: Evidence) -> Iterator[_Counted]:
    numbers = altogether(evidence, tallies.NUMBER)
    if numbers is not None:
        much = risen(numbers) * _NUMBER_BYTES
        yield _Counted(_of_numbers(numbers, evidence), much, _NUMBER_AT_MOST)
    if _is_emptied(evidence):
        return
    seeds = altogether(evidence, tallies.SEED_DRAWN)
    if seeds is not None:
        yield _Counted(_of_seeds(seeds, evidence), risen(seeds) * _SEED_BYTES)
    names = altogether(evidence, tallies.VARIABLE_NAMED)
    if names is not None:
        yield _Counted(_of_names(names, evidence), risen(names) * _NAME_BYTES)


def _held_between_censuses(evidence: Evidence) -> int | None:
    """The part of the kernels that came between the censuses; None if they were not counted.

    They came as evenly as the growth that they are to explain.
    """
    verdict, held_bytes = evidence.verdict, evidence.kernel_cache_bytes
    grown_bytes = (verdict.growth_bytes_per_unit or 0) * verdict.units_seen
    if held_bytes is None or grown_bytes <= 0:
        return None
    return round(held_bytes * min(1.0, growth_bytes(evidence) / grown_bytes))


def _computes_elsewhere(evidence: Evidence) -> bool:
    """Whether Keras was given another backend, and TensorFlow was never imported."""
    frameworks = evidence.environment.keys()
    return EAGER_CACHE.library not in frameworks and not _OTHERS.isdisjoint(frameworks)


def _is_emptied(evidence: Evidence) -> bool:
    """Whether the program has the kernels thrown away in every round."""
    return grown(evidence, tallies.CALLS, "clear_session", tallies.SEED_SET) is not None


def _of_seeds(seeds: Tally, evidence: Evidence) -> Claim:
    often = _words.often(seeds, evidence)
    message = (
        f"With a global seed, eager random operations take a new seed {often}, and TensorFlow "
        "keeps a kernel for each."
    )
    return Claim(message, seeds.where, _KERNELS, _SEED_FIX, "tensorflow/tensorflow#37252")


def _of_names(names: Tally, evidence: Evidence) -> Claim:
    made = models_made(evidence)
    if made is not None:
        return _of_models_made(made, evidence)
    rate = _words.rise(names, "variable", "variables", evidence)
    message = (
        f"Variables with new names are created, {rate}, and TensorFlow keeps a kernel for each."
    )
    return Claim(message, names.where, _KERNELS, _NAME_FIX, "tensorflow/tensorflow#40171")


def _of_numbers(numbers: Tally, evidence: Evidence) -> Claim:
    rate = _words.rise(numbers, "new Python number", "new Python numbers", evidence)
    message = f"Eager operations are given {rate}, and TensorFlow keeps a handle for each."
    return Claim(message, numbers.where, _NUMBERS, _NUMBER_FIX, "tensorflow/tensorflow#68196")


def _of_kernels(evidence: Evidence) -> Claim:
    """The cache was seen to hold it, and nobody has counted what is new in each round."""
    held = format_bytes(evidence.kernel_cache_bytes or 0)
    message = (
        "TensorFlow keeps a kernel for each new form of an eager operation; at the end of the "
        f"program, these kernels held {held}."
    )
    call = line_of_call(evidence, _EAGER_CALLS)
    fix = _KERNEL_FIX if call is None else _CALL_FIX
    return Claim(message, call or _words.unit_of(evidence).where, _KERNELS, fix)


def _of_shapes(evidence: Evidence) -> Claim | None:
    """New shapes in every interval without a new trace."""
    shapes = grown(evidence, tallies.SHAPES)
    if shapes is None or retraced(evidence) is not None or _is_seldom(shapes, evidence):
        return None
    rate = _words.rise(shapes, "new shape", "new shapes", evidence)
    message = f"`{shapes.name}` gets {rate}, and TensorFlow keeps kernels for each."
    most_bytes = risen(shapes) * _MOST_SHAPE_BYTES
    issue = "tensorflow/tensorflow#23455"
    return Claim(message, shapes.where, _KERNELS, _SHAPE_FIX, issue, most_bytes)


def _is_seldom(shapes: Tally, evidence: Evidence) -> bool:
    rate = GrowthRate.of(shapes.counts, evidence)
    return rate is not None and rate.each < _LEAST_SHAPES_PER_ROUND


def _of_models(evidence: Evidence) -> Claim | None:
    """New models that do not stay, where nobody has counted their variables."""
    made = models_made(evidence)
    was_counted = any(one.name == tallies.VARIABLE_NAMED for one in evidence.tallied(tallies.CALLS))
    if made is None or made.kind == tallies.MODELS or was_counted or _is_emptied(evidence):
        return None
    return _of_models_made(made, evidence)


def _of_models_made(made: Tally, evidence: Evidence) -> Claim:
    message = "Models are built again and again, and TensorFlow keeps kernels for each."
    where = made.where or line_of_call(evidence, TRAINING)
    return Claim(message, where, _KERNELS, _NAME_FIX, "tensorflow/tensorflow#40171")


def _seeded(source: "Source") -> "Iterator[ast.Call]":
    """The eager draws of a program that has set a global seed."""
    if not any(source.calls_library(call, *_SEEDS) for call in source.calls_of(*_SEED_NAMES)):
        return
    names = [f"tensorflow.random.{one}" for one in _DRAWS]
    for call in source.calls_of(*_DRAWS):
        if source.calls_library(call, *names) and _is_repeated(source, call):
            yield call


def _is_repeated(source: "Source", call: "ast.Call") -> bool:
    """Whether Python runs a call again and again, outside all graphs."""
    return any(map(source.is_worked_through, source.rounds(call))) and source.is_eager(call)
