"""LW201 model-accumulation."""

from typing import TYPE_CHECKING

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._lines import grown
from lowwater.causes._paths import below, line_of, name_of
from lowwater.model import Evidence, Holder, tallies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lowwater.check.source import Source
    from lowwater.model.source import SourceClaim


class ModelAccumulation(Cause):
    """Models built in a loop stay in memory.

    Something still refers to each of them: a list, a dict of results, an object that got
    the model. A model keeps its weights, its optimizer (for Adam twice the weights
    again), and the graphs from its training.

    Leaks:

        candidates = []
        for units in range(16, 512, 16):
            model = build_model(units)
            model.fit(x, y)
            candidates.append(model)

    Stays flat:

        best_loss = float("inf")
        for units in range(16, 512, 16):
            model = build_model(units)
            loss = min(model.fit(x, y).history["loss"])
            if loss < best_loss:
                best_loss = loss
                model.save("best.keras")

    Known problems:

        A loop over three values or fewer counts as no loop.
        Models that one object keeps in several attributes are not counted.

    Fix safety:

        There is no automatic fix: what to keep instead is for you to decide.

    Applies to:

        Keras 2 and 3, `tf.keras` and `tf_keras`, on every backend.
    """

    code = "LW201"
    name = "model-accumulation"
    fix = (
        "Keep the numbers you compare, and save the best model to a file: "
        '`model.save("best.keras")`.'
    )
    is_mostly_native = True
    words = (".append", ".add(", "] =", ".setdefault", "+=", ".update(", ".insert(")
    words_beside = (
        "Sequential(", "Model(", "Functional(", "clone_model(", "load_model(", "applications.",
        "model_from_json(", ".Model)", "(Model)", "Model,", ".Module)",
    )  # fmt: skip
    measured = "about 530 KiB per iteration in the specimen of this rule"

    def claims(self, holder: Holder, evidence: Evidence) -> bool:
        """New items are models, or lead to models; the library's own lists only while they grow."""
        leads_to_model = any(_kinds.is_model(step) for step in below(holder))
        return leads_to_model and (holder.is_users or grown(evidence, tallies.MODELS) is not None)

    def account(self, holder: Holder, evidence: Evidence) -> Claim:
        """Who keeps the models."""
        model = next(step for step in below(holder) if _kinds.is_model(step))
        name, kind = name_of(holder), _kinds.class_name(model.type)
        one, more = f"`{kind}` model", f"`{kind}` models"
        if below(holder)[0] is not model:
            one, more = f"item that keeps a `{kind}` model", f"items that keep a `{kind}` model"
        rate = _words.rate(holder.counts, one, more, evidence)
        where = line_of(holder)
        if where is None and (made := grown(evidence, tallies.MODELS)):
            where = made.where
        return Claim(f"`{name}` grows by {rate}.", where=where, holder=name)

    def in_rest(self, rest_bytes: int, evidence: Evidence) -> Claim | None:  # noqa: ARG002
        """Ever more models live, but the path to them was not found."""
        models = grown(evidence, tallies.MODELS)
        if models is None:
            return None
        rate = _words.rise(models, f"`{models.name}`", f"`{models.name}` models", evidence)
        message = f"The number of live models grows: {rate}. What keeps them was not found."
        return Claim(message, where=models.where)

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """A model, or an object that has one, is added to a container in a loop."""
        for growth in source.growths:
            is_kept = growth.keeps_model and growth.makes_what_it_keeps
            if is_kept and not growth.builds_a_model:
                yield source.claim(
                    growth.node,
                    f"`{growth.name}` keeps the model of every {growth.round.name}.",
                    label="its weights, its optimizer and its graphs stay in memory with it",
                )
