"""LW205 gradient-registry: TensorFlow pins every graph that was ever traced for training."""

from lowwater.upstream._known_leak import KnownLeak, Version


def _affects(version: Version) -> bool:
    return version < (2, 22)


GRADIENT_REGISTRY = KnownLeak(
    code="LW205",
    name="gradient-registry",
    library="tensorflow",
    affects=_affects,
    affected="up to 2.21; a fix was merged after it (tensorflow/tensorflow#109334)",
    issue="tensorflow/tensorflow#97697",
    what=(
        "TensorFlow's global gradient registry keeps every graph that a model was trained with, "
        "so models built and fitted in a loop never leave memory."
    ),
    costs=(
        "4.6 MB for each small model that is built, fitted and thrown away, 143 MB for each "
        "MobileNetV2; `del`, `clear_session()` and `gc.collect()` together do not free it."
    ),
    advice=(
        "Run each training in a process of its own; or compile with `run_eagerly=True`, "
        "which is slower but keeps 0.7 MB per model where it was 14 to 22."
    ),
)
