"""LW304 pipeline-per-round."""

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._lines import FEEDING, grown, line_of_call
from lowwater.causes._paths import below, nearest_line
from lowwater.causes.upstream.pipeline_per_round import PIPELINE_PER_ROUND
from lowwater.model import Evidence, Holder, tallies

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
    """

    code = "LW304"
    name = "pipeline-per-round"
    fix = PIPELINE_PER_ROUND.advice
    known = PIPELINE_PER_ROUND
    is_mostly_native = True

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


def _held(holder: Holder) -> str:
    parts = below(holder)
    source = next((step for step in parts if _kinds.is_sequence(step)), None)
    if source is not None:
        return f", with the data of each `{_kinds.class_name(source.type)}`"
    return f", with {_words.one(parts[-1])} each" if len(parts) > 1 else ""
