"""Rematerialisation: activations are dropped, and computed again for the gradients."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from lowwater.sizing.remedies._model import forget_traces
from lowwater.sizing.remedies._way import DoesNotApply, RemedyWay
from lowwater.sizing.subject import Subject

# ruff: noqa: ANN401 - models are the user's


@dataclass(frozen=True)
class Rematerialisation(RemedyWay):
    """`keras.remat` around each layer that gives the same when it is computed twice.

    `keras.RematScope` does it to all layers. On TensorFlow it fails in a graph for every layer
    that is told `training` (3.15), and a layer with dropout or batch normalisation would draw
    another mask and count its batch twice: those are left as they are.
    """

    name = "rematerialisation"
    how = "keras.remat around the layers without dropout or batch normalisation"

    def changes(self, place: str) -> str:  # noqa: ARG002
        """The same is computed twice."""
        return "only the time of a step"

    def __call__(self, subject: Subject) -> Subject:
        """Wrap what each layer computes, as a layer that is made for it would."""
        import keras

        if not hasattr(keras, "remat"):
            raise DoesNotApply("this release of Keras has no keras.remat")
        model: Any = subject.model
        found = [*_repeatable(model)]
        if not found:
            raise DoesNotApply("no layer gives the same result if it is computed twice")
        for layer in found:
            layer.call = _computed_again(layer.call, keras.remat)
        forget_traces(model)
        return replace(subject, model=model)


def _repeatable(model: Any) -> Iterator[Any]:
    """Layers with weights or heads of their own; those in a model inside the model as well."""
    import keras

    for layer in model._flatten_layers(include_self=False, recursive=False):  # noqa: SLF001
        if isinstance(layer, keras.Model):
            yield from _repeatable(layer)
        elif _has_state(layer):
            # What is random or counts is inside: perhaps some of its own layers are not.
            yield from _repeatable(layer)
        elif not isinstance(layer, keras.layers.InputLayer | keras.metrics.Metric):
            yield layer


def _has_state(layer: Any) -> bool:
    every = layer._flatten_layers()  # noqa: SLF001
    is_random = any(getattr(one, "_seed_generators", None) for one in every)
    return is_random or bool(layer.non_trainable_variables)


def _computed_again(call: Any, remat: Any) -> Any:
    # TensorFlow takes no keyword arguments there, so they are known to the function already.
    def computed(*inputs: Any, **options: Any) -> Any:
        return remat(lambda *given: call(*given, **options))(*inputs)

    return computed
