"""LW209 eager-cache: TensorFlow keeps a kernel for every seed, name and shape, and every number."""

from lowwater.causes.upstream._known_leak import KnownLeak, since

EAGER_CACHE = KnownLeak(
    code="LW209",
    name="eager-cache",
    library="tensorflow",
    affects=since(2),
    affected="measured on 2.21; no release without it is known",
    issue="tensorflow/tensorflow#37252",
    what=(
        "TensorFlow's eager caches grow: kernels with every new seed, shape or name of a "
        "variable, handles with every new Python number."
    ),
    costs=(
        "36 KB for each eager random operation under a global seed and for each new name of a "
        "variable (so 0.2 MB for each small model built, 70 KB for each `model.save`), about "
        "75 KB for each new shape in `predict`, 0.6 KB for each new Python number "
        "(tensorflow/tensorflow#68196)."
    ),
    advice=(
        "Draw from a `tf.random.Generator`, pad inputs to a few shapes, and pass changing "
        "numbers as `np.float32(value)`. `clear_session()` empties the kernel cache, but not the "
        "cache of numbers."
    ),
)
