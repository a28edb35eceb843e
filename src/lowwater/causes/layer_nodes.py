"""LW212 layer-nodes."""

from typing import TYPE_CHECKING

from lowwater.causes import _kinds, _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._lines import grown, models_made
from lowwater.causes._paths import container, nearest_line, owners
from lowwater.causes.upstream.layer_nodes import LAYER_NODES
from lowwater.model import Evidence, Holder, Step, tallies

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from lowwater.check.source import Source
    from lowwater.model.source import SourceClaim

_HOLDER = "keras layer nodes"
# Keras 3, and with `_value` behind them tf_keras.
_LISTS = frozenset({"_outbound_nodes", "_inbound_nodes"})


class LayerNodes(Cause):
    """A reused layer keeps every layer ever connected to it.

    In the functional API, each call of a layer on a symbolic tensor creates a node.
    The layers on both sides refer to the node, and the node refers to them.
    So a backbone in use keeps the head of each model that was built on top of it,
    with its weights, even after the model is deleted.
    `del` and `clear_session()` change nothing. A subclassed model creates no nodes.

    Leaks:

        backbone = build_backbone()
        for classes in range(2, 100):
            outputs = keras.layers.Dense(classes)(backbone.output)
            model = keras.Model(backbone.input, outputs)

    Stays flat:

        backbone = build_backbone()
        for classes in range(2, 100):
            copy = keras.models.clone_model(backbone)
            copy.set_weights(backbone.get_weights())
            outputs = keras.layers.Dense(classes)(copy.output)
            model = keras.Model(copy.input, outputs)

    Known problems:

        A backbone that is called, `backbone(inputs)`, is found only when the program runs.

    Fix safety:

        There is no automatic fix: what must move out of the loop is for you to decide.

    Applies to:

        Keras 2 and 3, on every backend.
    """

    code = "LW212"
    name = "layer-nodes"
    fix = LAYER_NODES.advice
    known = LAYER_NODES
    is_mostly_native = True
    words = (".output", ".outputs", ".input")
    words_beside = ("Model(", "load_model(", "applications.", "clone_model(", "Sequential(")
    measured = "660 KiB per iteration in the specimen of this rule"

    def claims(self, holder: Holder, evidence: Evidence) -> bool:
        """A layer of Keras' own grows while models are built with it, none of which stays."""
        owner = next((one for one in owners(holder) if not _kinds.is_frame(one)), None)
        if owner is None or not _kinds.is_layer(owner) or holder.sites:
            return False
        edge = container(holder).edge.removeprefix(".").removesuffix("_value")
        is_librarys = _kinds.library_of(owner) is not None
        return edge in _LISTS or (is_librarys and _models_go(evidence))

    def account(self, holder: Holder, evidence: Evidence) -> Claim:
        """Which layer it is, and which line builds on it."""
        name = _kinds.class_name(_first_layer(holder).type)
        message = (
            f"A `{name}` that is still in use keeps every layer ever connected to it, with the "
            "weights of deleted models"
        )
        made = models_made(evidence)
        if made is None:
            return Claim(f"{message}.", where=nearest_line(holder), holder=_HOLDER)
        rate = _words.rise(made, "model", "models", evidence)
        return Claim(f"{message}: {rate}.", where=made.where, holder=_HOLDER)

    def find_in_source(self, source: "Source") -> "Iterator[SourceClaim]":
        """A layer is put on the output of a model that is older than the round."""
        for call in source.calls:
            model = _extended(source, call)
            if model is None:
                continue
            older = (one for one in source.rounds(call) if source.is_older(model, one))
            repeated = next(older, None)
            if repeated is not None:
                name = source.text_of(model)
                yield source.claim(
                    call,
                    f"A new layer is put on `{name}` in every {repeated.name}, and `{name}` keeps "
                    "each.",
                    label="stays in memory for as long as the layer below it",
                )


def _models_go(evidence: Evidence) -> bool:
    """Whether models are made again and again, and do not stay alive."""
    made = models_made(evidence)
    return made is not None and made.kind == tallies.CALLS and not grown(evidence, tallies.MODELS)


def _first_layer(holder: Holder) -> Step:
    """The outermost layer on the path: the one that the program has."""
    return next(step for step in holder.steps if _kinds.is_layer(step))


def _extended(source: "Source", call: "ast.Call") -> "ast.expr | None":
    """The model on whose output a call puts a new layer."""
    given = source.attribute_owner(call.args[0], "output", "outputs") if call.args else None
    if given is None or not source.is_made_here(call.func, "layer"):
        return None
    return given if "model" in source.kinds(given) else None
