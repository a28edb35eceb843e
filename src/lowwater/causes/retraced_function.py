"""LW202 retraced-function."""

from typing import TYPE_CHECKING

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._lines import TRAINING, grown, line_of_call, models_made, retraced, short_name
from lowwater.causes._paths import function_name
from lowwater.causes.gradient_registry import is_in_registry
from lowwater.model import Evidence, Holder, Step, Tally, tallies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lowwater.check.source import Source
    from lowwater.model.source import SourceClaim

_SHAPES_FIX = (
    "Use one input shape, or a few: for example, pad to the next multiple of 64, or sort inputs "
    "into buckets of equal length."
)


class RetracedFunction(Cause):
    """A `tf.function` is traced again and again while the program runs.

    Each trace is a graph that lives as long as the function.
    A Python number is part of the lookup key of a trace, so every new number adds a graph.
    So does every new tensor shape, unless the signature leaves the dimension open.
    `reduce_retracing=True` helps with shapes, but not with Python numbers.

    Leaks:

        @tf.function
        def train_step(x, progress):
            return tf.reduce_sum(x) * progress


        for step in range(1000):
            train_step(x, step / 1000)

    Stays flat:

        @tf.function
        def train_step(x, progress):
            return tf.reduce_sum(x) * progress


        for step in range(1000):
            train_step(x, tf.constant(step / 1000))

    Known problems:

        New shapes are not found in source, only Python numbers.
        A number from a library that `lowwater check` does not know is not taken for one.

    Fix safety:

        Unsafe: the function may use the number as a shape or as the length of a `range`.

    Applies to:

        `tf.function` of TensorFlow 2. `jax.jit` takes a number as a value, and is acquitted.
    """

    code = "LW202"
    name = "retraced-function"
    fix = (
        "Pass tensors, not Python numbers: `train_step(x, tf.constant(value))`. For inputs of "
        "many shapes, declare the open dimension: `input_signature=[tf.TensorSpec([None, "
        "None])]`."
    )
    is_mostly_native = True
    words = ("tf.function", "tensorflow.function", "@function", "import function")
    measured = "about 163 KiB per trace in the specimen of this rule"

    def claims(self, holder: Holder, evidence: Evidence) -> bool:
        """The traces of one function; and graphs in the registry, if only traces can be theirs."""
        if _function(holder) is not None and _is_cache(holder):
            return True
        is_driven = retraced(evidence) is not None and models_made(evidence) is None
        return is_driven and is_in_registry(holder)

    def account(self, holder: Holder, evidence: Evidence) -> Claim:
        """Which function it is, by its traces or else by its place on the path."""
        function = _function(holder)
        if function is None or function.where is None:
            return self.in_rest(holder.grown_bytes, evidence) or _by_call(None, evidence)
        traces = evidence.tallied(tallies.TRACES)
        same = next((one for one in traces if one.where == function.where), None)
        if same is not None:
            return _by_definition(same, evidence)
        name = function_name(function)
        message = f"`{name}` is traced again and again, and keeps every graph."
        return Claim(message, where=function.where, holder=name)

    def in_rest(self, rest_bytes: int, evidence: Evidence) -> Claim | None:  # noqa: ARG002
        """Some function was traced again in every interval."""
        traced = retraced(evidence)
        if traced is None:
            return None
        tell = _by_definition if traced.where else _by_call
        return tell(traced, evidence)

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """A `tf.function` is called with a Python number that differs from call to call."""
        for call, traced in source.calls_of_traced():
            if traced.of is not None and traced.of.name == "jax.jit":
                continue  # JAX traces a Python number as a value
            for given in (*call.args, *(one.value for one in call.keywords)):
                if source.is_number(given) and source.changes_by_call(given, call):
                    number = source.text_of(given)
                    yield source.claim(
                        given,
                        f"`{traced.last_name}` is traced again for every new value of `{number}`, "
                        "and keeps a graph each time.",
                        label="a Python number, which is part of the key of a trace",
                        fix=f"Pass a tensor: `tf.constant({number})`.",
                        # Not safe: in the function it may be the length of a range, or a shape.
                        edits=source.wrapped(given, "tensorflow.constant"),
                    )


def _function(holder: Holder) -> Step | None:
    """The `tf.function` that has the container."""
    until = holder.steps[: holder.container + 1]
    return next((step for step in reversed(until) if _kinds.is_tf_function(step)), None)


def _is_cache(holder: Holder) -> bool:
    """Between the function and the container lie no objects of the program."""
    until = holder.steps[: holder.container + 1]
    at = max(i for i, step in enumerate(until) if _kinds.is_tf_function(step))
    return all(_kinds.library_of(step) or _kinds.is_plain(step) for step in until[at:])


def _by_definition(traced: Tally, evidence: Evidence) -> Claim:
    """A function of the program: the line is where it is defined."""
    name, often = short_name(traced), _words.often(traced, evidence)
    reason = f": its argument {traced.about}" if traced.about else ""
    tense = "was" if often.endswith("watched") else "is"
    message = f"`{name}` {tense} traced again {often}, and keeps a graph each time{reason}."
    return Claim(message, where=traced.where, holder=name)


def _by_call(traced: Tally | None, evidence: Evidence) -> Claim:
    """A function of Keras: the line is the call that makes it trace."""
    shapes = grown(evidence, tallies.SHAPES)
    if shapes is not None:
        rate = _words.rise(shapes, "new shape", "new shapes", evidence)
        message = f"`{shapes.name}` gets {rate}, and traces and keeps a graph each time."
        return Claim(message, where=shapes.where, holder=shapes.name, fix=_SHAPES_FIX)
    often = _words.often(traced, evidence) if traced else "and again"
    message = f"A Keras function is traced again {often}, and keeps a graph each time."
    return Claim(message, where=line_of_call(evidence, (*TRAINING, "predict", "evaluate")))
