"""LW209 eager-cache: TensorFlow keeps a kernel for every shape and model it has ever seen."""

from lowwater.upstream._known_leak import KnownLeak, Version


def _affects(version: Version) -> bool:
    return version >= (2,)


EAGER_CACHE = KnownLeak(
    code="LW209",
    name="eager-cache",
    library="tensorflow",
    affects=_affects,
    affected="measured on 2.21; no release without it is known",
    issue=None,
    what=(
        "TensorFlow's eager caches grow: kernels with every new shape or model, "
        "handles with every new Python number."
    ),
    costs="About 0.2 MB for each model that is built and 75 KB for each new shape in `predict`.",
    advice=(
        "Pad inputs to a few shapes and pass tensors, not Python numbers; "
        "`clear_session()` empties the kernel cache."
    ),
)
