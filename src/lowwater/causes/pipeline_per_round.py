"""LW304 pipeline-per-round."""

import ast
from typing import TYPE_CHECKING

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._lines import FEEDING, grown, line_of_call
from lowwater.causes._paths import below, nearest_line
from lowwater.causes.upstream.pipeline_per_round import PIPELINE_PER_ROUND
from lowwater.model import Evidence, Holder, tallies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lowwater.check.pipelines import PipelineStep
    from lowwater.check.rounds import Round
    from lowwater.check.source import Source
    from lowwater.check.things import Thing
    from lowwater.model.source import SourceClaim

_CLEARING = (
    "keras.utils.clear_session", "keras.backend.clear_session", "tensorflow.v1.reset_default_graph",
    "lowwater.release", "lowwater.lifecycle",
)  # fmt: skip
_FUNCTIONS = ("py_function", "numpy_function", "py_func")
_DATA = ("x", "validation_data", "generator")
_TABLE = "_py_funcs_used_in_graph"


class PipelinePerRound(Cause):
    """Every round creates a new input pipeline, and TensorFlow keeps its Python functions.

    `from_generator`, `py_function` and `fit` on a `PyDataset` pass a Python function to
    TensorFlow. Until `clear_session()` the default graph keeps that function, with everything it
    refers to: the `PyDataset` and its arrays, or whatever the generator closes over.
    One pipeline is harmless. One per fold or per `fit` call keeps all their data.

    Leaks:

        for fold in range(10):
            model.fit(Frames(load(fold)), epochs=1)

    Stays flat:

        frames = Frames(load(0))
        for fold in range(10):
            frames.data = load(fold)
            model.fit(frames, epochs=1)

    Known problems:

        A pipeline that another file makes is found only when the program runs. What an old data
        set keeps may be small, such as file names.

    Fix safety:

        There is no automatic fix: a pipeline that is made once needs another way to get new data.

    Applies to:

        TensorFlow 2, up to and including 2.21.
    """

    code = "LW304"
    name = "pipeline-per-round"
    fix = PIPELINE_PER_ROUND.advice
    known = PIPELINE_PER_ROUND
    is_mostly_native = True

    words = ("from_generator", "py_function", "numpy_function", "py_func", "Sequence", "PyDataset",
             "ImageDataGenerator", "yield")  # fmt: skip
    words_beside = (
        ".fit(",
        ".fit_generator(",
        ".evaluate(",
        ".predict(",
        "from_generator",
        ".map(",
    )
    measured = "2.0 MiB per iteration in the specimen of this rule"

    def claims(self, holder: Holder, evidence: Evidence) -> bool:  # noqa: ARG002
        """The default graph's list of Python functions."""
        return any(_TABLE in step.edge for step in holder.steps[: holder.container + 1])

    def account(self, holder: Holder, evidence: Evidence) -> Claim:
        """What the functions keep, and which call makes the pipelines."""
        more = _words.rate(holder.counts, "more", "more", evidence)
        message = (
            f"TensorFlow's default graph keeps the Python functions of input pipelines, {more}"
            f"{_held(holder)}."
        )
        pipeline = grown(evidence, tallies.DATASETS)
        where = line_of_call(evidence, FEEDING) or (pipeline.where if pipeline else None)
        return Claim(message, where or nearest_line(holder), "tensorflow default graph")

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """Each round of a loop gives TensorFlow a new generator, function or data set."""
        for call in source.calls_of("from_generator"):
            repeated = _round_of(source, call, _first(call, "generator"))
            if repeated is not None and source.calls_library(
                call, "tensorflow.data.Dataset.from_generator"
            ):
                yield _claim(source, call, repeated, "the generator, with the data that it reads")
        yield from _mapped_functions(source)
        yield from _fed_data_sets(source)


def _first(call: ast.Call, name: str) -> ast.expr | None:
    """The first argument of a call, by its place or its name."""
    named = next((one.value for one in call.keywords if one.arg == name), None)
    return named if named is not None or not call.args else call.args[0]


def _round_of(source: "Source", call: ast.Call, function: ast.expr | None) -> "Round | None":
    """The loop in which a call gives TensorFlow another function each time."""
    if function is None:
        return None
    for repeated in source.rounds(call):
        if repeated.is_loop and source.keeps_of_round(function, repeated):
            return None if _is_cleared(source, repeated) else repeated
    return None


def _is_cleared(source: "Source", repeated: "Round") -> bool:
    """Whether the round frees the functions of the one before."""
    return any(source.calls_library(call, *_CLEARING) for call in source.reached(repeated.node))


def _mapped_functions(source: "Source") -> "Iterator[SourceClaim]":
    """`map(f)` where `f` calls a `py_function` with what the round made."""
    for step, _ in source.steps_of("map"):
        given = step.given("map_func")
        if given is None:
            continue
        for inner in source.calls_in_mapped(given):
            name = getattr(inner.func, "attr", "")
            function = _first(inner, "func")
            if name not in _FUNCTIONS or function is None:
                continue
            # A method of the object whose method is mapped keeps that object.
            is_of_object = _is_of_self(function) and isinstance(given, ast.Attribute)
            repeated = _round_of(source, step.call, given if is_of_object else function)
            if repeated is not None:
                yield _claim(source, step, repeated, f"the function behind `{name}`")
                break


def _is_of_self(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id == "self"
    )


def _fed_data_sets(source: "Source") -> "Iterator[SourceClaim]":
    """`fit` on a data set written in Python that is made in each round."""
    for call in source.calls_of(*FEEDING):
        if source.method_of(call, "model") is None:
            continue
        given = [*call.args[:1], *(one.value for one in call.keywords if one.arg in _DATA)]
        for one in given:
            made = next((each for each in source.things(one) if _is_python_data(each)), None)
            repeated = None if made is None else _round_made(source, call, one)
            if made is not None and repeated is not None:
                what = "the data set" if made.scope is None else f"`{made.scope.name}`"
                yield _claim(source, call, repeated, f"{what}, with its data")
                break


def _held(holder: Holder) -> str:
    parts = below(holder)
    source = next((step for step in parts if _kinds.is_sequence(step)), None)
    if source is not None:
        return f", with the data of each `{_kinds.class_name(source.type)}`"
    return f", with {_words.one(parts[-1])} each" if len(parts) > 1 else ""


def _is_python_data(thing: "Thing") -> bool:
    """Whether it is a generator, or a `PyDataset` or `Sequence`, of the project or of Keras."""
    if thing.name.startswith("generator "):
        return True
    return thing.kind == "data set" and (thing.scope is not None or thing.last_name == "flow")


def _round_made(source: "Source", call: ast.Call, data: ast.expr) -> "Round | None":
    for repeated in source.rounds(call):
        if repeated.is_loop and source.takes_of_round(data, repeated):
            return None if _is_cleared(source, repeated) else repeated
    return None


def _claim(
    source: "Source", node: "ast.AST | PipelineStep", repeated: "Round", kept: str
) -> "SourceClaim":
    return source.claim(
        node,
        f"Each {repeated.name} makes a new pipeline: TensorFlow's default graph keeps {kept}.",
        label="stays in memory until `clear_session()`",
    )
