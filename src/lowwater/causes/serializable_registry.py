"""LW213 serializable-registry."""

from typing import TYPE_CHECKING

from lowwater.causes import _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._paths import below, global_of_library
from lowwater.causes.upstream.serializable_registry import SERIALIZABLE_REGISTRY
from lowwater.model import Evidence, Holder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lowwater.check.source import Source
    from lowwater.model.source import SourceClaim

_TABLES = frozenset({"GLOBAL_CUSTOM_NAMES", "GLOBAL_CUSTOM_OBJECTS"})

_REGISTERS = tuple(f"keras.{module}.register_keras_serializable" for module in ("saving", "utils"))


class SerializableRegistry(Cause):
    """Keras keeps every class that is registered for saving.

    `register_keras_serializable` stores the class, or the function, in two tables that live
    as long as the process. A class that is defined inside a function or a cell is a new class
    each time. Each one stays, even under the same name,
    with everything that its methods refer to: closures, defaults, data.

    Leaks:

        def make_loss(weights):
            @keras.saving.register_keras_serializable(package="project")
            def weighted(y_true, y_pred):
                return keras.ops.mean(weights * (y_true - y_pred) ** 2)

            return weighted


        for fold in range(10):
            model.compile("sgd", make_loss(load_weights(fold)))

    Stays flat:

        @keras.saving.register_keras_serializable(package="project")
        class Weighted(keras.losses.Loss):
            def __init__(self, weights, **options):
                super().__init__(**options)
                self.weights = weights

            def call(self, y_true, y_pred):
                return keras.ops.mean(self.weights * (y_true - y_pred) ** 2)


        for fold in range(10):
            model.compile("sgd", Weighted(load_weights(fold)))

    Known problems:

        Classes that are registered by a cell of a notebook, run again and again, are found only
        when it runs.

    Fix safety:

        There is no automatic fix: what must move out of the loop is for you to decide.

    Applies to:

        Keras 2.4 and later, Keras 3 on every backend.
    """

    code = "LW213"
    name = "serializable-registry"
    fix = SERIALIZABLE_REGISTRY.advice
    known = SERIALIZABLE_REGISTRY
    words = ("register_keras_serializable",)
    measured = "512 KiB per iteration in the specimen of this rule"

    def claims(self, holder: Holder, evidence: Evidence) -> bool:  # noqa: ARG002
        """One of the two tables of Keras."""
        return global_of_library(holder) in _TABLES

    def account(self, holder: Holder, evidence: Evidence) -> Claim:
        """How many are registered, and where the latest is defined."""
        rate = _words.rate(holder.counts, "class or function", "classes and functions", evidence)
        message = f"The Keras table of registered classes grows by {rate}."
        where = next((step.where for step in below(holder) if step.where), None)
        return Claim(message, where=where, holder="keras registered classes")

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """A class or function is defined and registered again in each round."""
        for decorator, defined in source.decorated_by(*_REGISTERS):
            repeated = next(iter(source.rounds(defined.node)), None)
            if repeated is not None:
                yield source.claim(
                    decorator,
                    f"`{defined.name}` is registered again in every {repeated.name}, and Keras "
                    "keeps each.",
                    label="stays until the process ends, with all that it refers to",
                )
