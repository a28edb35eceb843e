"""`jit_compile=True`: XLA fuses operations, so that what is between them needs no memory."""

from dataclasses import dataclass, replace
from typing import Any

from lowwater.sizing.remedies._model import forget_traces
from lowwater.sizing.remedies._way import DoesNotApply, RemedyWay
from lowwater.sizing.subject import Subject


@dataclass(frozen=True)
class CompiledByXla(RemedyWay):
    """XLA also takes other kernels, which may need more: so it is measured."""

    name = "jit_compile"
    how = "model.compile(jit_compile=True)"

    def changes(self, place: str) -> str:  # noqa: ARG002
        """Another order of sums."""
        return "only rounding; the first step takes long, because it compiles"

    def __call__(self, subject: Subject) -> Subject:
        """If it is not compiled already."""
        model: Any = subject.model
        if model.run_eagerly:
            raise DoesNotApply("the model runs eagerly")
        if model.jit_compile:
            raise DoesNotApply("XLA already compiles the model")
        if subject.backend == "torch":
            raise DoesNotApply("the backend is torch, which has no XLA")
        model.jit_compile = True
        if not model.jit_compile:
            raise DoesNotApply("a layer of the model does not support it")
        forget_traces(model)
        return replace(subject, model=model)
