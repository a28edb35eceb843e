"""Another optimizer: plain SGD keeps no state for each weight."""

from dataclasses import dataclass, replace
from typing import Any

from lowwater.sizing.remedies._model import optimizer_of, replace_optimizer
from lowwater.sizing.remedies._way import DoesNotApply, RemedyWay
from lowwater.sizing.subject import Subject


@dataclass(frozen=True)
class PlainSGD(RemedyWay):
    """SGD without momentum."""

    name = "SGD"
    how = "keras.optimizers.SGD(learning_rate) in model.compile"

    def changes(self, place: str) -> str:  # noqa: ARG002
        """It takes another way."""
        return "training differs: needs another learning rate, and usually more epochs"

    def __call__(self, subject: Subject) -> Subject:
        """With a learning rate of its own: the size of the steps is nothing to their memory."""
        import keras

        model: Any = subject.model
        optimizer = optimizer_of(model)
        if isinstance(optimizer, keras.optimizers.SGD) and not optimizer.momentum:
            raise DoesNotApply("the model already trains with plain SGD")
        replace_optimizer(model, keras.optimizers.SGD(1e-6))
        return replace(subject, model=model)
