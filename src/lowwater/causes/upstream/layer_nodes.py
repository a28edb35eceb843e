"""LW212 layer-nodes: a Keras layer keeps every layer that was ever connected to it."""

from lowwater.causes.upstream._known_leak import KnownLeak, since

LAYER_NODES = KnownLeak(
    code="LW212",
    name="layer-nodes",
    library="keras",
    affects=since(3),
    affected="measured on 3.15, and on tf_keras 2.21; other releases were not measured",
    issue=None,
    what=(
        "A layer keeps every layer ever connected to it, so a reused backbone keeps the head "
        "of each old model."
    ),
    costs="The weights of each head; `del` and `clear_session()` do not free them.",
    advice=(
        "Clone the backbone for each model: `keras.models.clone_model(backbone)`, then "
        "`set_weights`; or connect it in the `call` of a subclassed model."
    ),
)
