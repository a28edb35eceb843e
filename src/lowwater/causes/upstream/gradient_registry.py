"""LW205 gradient-registry: TensorFlow pins every graph that holds a custom gradient."""

from lowwater.causes.upstream._known_leak import KnownLeak, since

GRADIENT_REGISTRY = KnownLeak(
    code="LW205",
    name="gradient-registry",
    library="tensorflow",
    # A fix for one of the ways in was merged after 2.21; `silu` and SavedModels stay as they are.
    affects=since(2, 11),
    affected=(
        "reported from 2.11 on, measured on 2.21; a fix for training only was merged later "
        "(tensorflow/tensorflow#109334)"
    ),
    issue="tensorflow/tensorflow#97697",
    what=(
        "TensorFlow's global gradient registry keeps every graph that a model was trained with, "
        "so models built and fitted in a loop never leave memory. Graphs with `silu` or `swish`, "
        "and SavedModels with custom gradients, stay even without training."
    ),
    costs=(
        "5.8 MB for each small model that is built, fitted and dropped, 200 MB for each "
        "MobileNetV2, 0.1 MB for each small model with `silu` that predicts; `del`, "
        "`clear_session()` and `gc.collect()` together do not free it."
    ),
    advice=(
        "Call `lowwater.mend()` before you build the first model. It repairs the leak in this "
        "process; `lowwater run --mend` does it for an unchanged script. Or run each training in "
        "its own process."
    ),
)
