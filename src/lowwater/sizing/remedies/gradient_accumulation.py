"""Gradient accumulation: the wanted batch in several smaller steps, and one update."""

from dataclasses import dataclass, replace
from typing import Any

from lowwater.sizing.remedies._model import optimizer_of, replace_optimizer
from lowwater.sizing.remedies._way import DoesNotApply, RemedyWay
from lowwater.sizing.subject import Subject

# Steps of one update. More would take longer than anybody waits for. A guess.
_MOST_STEPS = 64


@dataclass(frozen=True)
class GradientAccumulation(RemedyWay):
    """`gradient_accumulation_steps` of Keras' optimizers, with a part of the batch per step."""

    name = "gradient accumulation"
    how = "optimizer(gradient_accumulation_steps=n) with a batch n times smaller"
    steps_per_batch: int = 2

    def changes(self, place: str) -> str:  # noqa: ARG002
        """The mean of gradients of parts is the gradient of the whole."""
        return "the same gradient up to rounding; batch normalisation sees the smaller batches"

    def for_batch(self, batch_size: int, fits: int | None) -> RemedyWay:
        """As few steps as fit, of equal size."""
        counts = range(2, min(batch_size, _MOST_STEPS) + 1)
        for steps in counts:
            if batch_size % steps == 0 and (fits is None or batch_size // steps <= fits):
                return GradientAccumulation(steps)
        return self

    def __call__(self, subject: Subject) -> Subject:
        """Make the optimizer again from its configuration: it adds its accumulators when built."""
        model: Any = subject.model
        optimizer = optimizer_of(model)
        config = optimizer.get_config()
        if config.get("gradient_accumulation_steps"):
            raise DoesNotApply("the optimizer already accumulates gradients")
        if "gradient_accumulation_steps" not in config:
            raise DoesNotApply(f"{type(optimizer).__name__} cannot accumulate gradients")
        config["gradient_accumulation_steps"] = self.steps_per_batch
        replace_optimizer(model, type(optimizer).from_config(config))
        return replace(subject, model=model)
