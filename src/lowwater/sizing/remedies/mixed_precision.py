"""Mixed precision: compute with 16 bits, keep the weights in 32."""

from dataclasses import dataclass, replace
from typing import Any

from lowwater.sizing.remedies._model import forget_traces, replace_optimizer, with_gpu
from lowwater.sizing.remedies._way import DoesNotApply, RemedyWay
from lowwater.sizing.subject import Subject

# ruff: noqa: ANN401 - models are the user's


@dataclass(frozen=True)
class MixedPrecision(RemedyWay):
    """bfloat16 on the CPU; float16 on a GPU, with the loss scaled as Keras does it."""

    name = "mixed precision"
    how = 'keras.config.set_dtype_policy("mixed_bfloat16") before the model is built'

    def changes(self, place: str) -> str:
        """Fewer digits."""
        if place.startswith("CPU"):
            return "computes with 2 to 3 digits (bfloat16); weights keep 32 bits"
        return "computes with 3 digits (float16) and scales the loss; weights keep 32 bits"

    def __call__(self, subject: Subject) -> Subject:
        """Give every layer that computes with 32 bits the other policy."""
        import keras

        model: Any = subject.model
        kind = "float16" if with_gpu() else "bfloat16"
        found = [layer for layer in model._flatten_layers() if _computes_in_32_bits(layer)]  # noqa: SLF001
        if not found:
            raise DoesNotApply("no layer computes with 32 bits")
        for layer in found:
            layer.dtype_policy = keras.DTypePolicy(f"mixed_{kind}")
        if kind == "float16" and getattr(model, "optimizer", None) is not None:
            scaled = keras.optimizers.LossScaleOptimizer
            if not isinstance(model.optimizer, scaled):
                replace_optimizer(model, scaled(model.optimizer))
        forget_traces(model)
        return replace(subject, model=model)


def _computes_in_32_bits(layer: Any) -> bool:
    return str(getattr(layer.dtype_policy, "compute_dtype", "")) == "float32"
