"""LW214 check-numerics: under `enable_check_numerics()` TensorFlow keeps every graph."""

from lowwater.causes.upstream._known_leak import KnownLeak, since

CHECK_NUMERICS = KnownLeak(
    code="LW214",
    name="check-numerics",
    library="tensorflow",
    affects=since(2),
    affected="measured on 2.21; other releases were not measured",
    issue=None,
    what="With `tf.debugging.enable_check_numerics()` TensorFlow keeps every graph it traces.",
    costs="0.1 MB for each small function, 0.2 MB for each small model that predicts.",
    advice=(
        "Turn it off once you have found the bad number: "
        "`tf.debugging.disable_check_numerics()`. What is already kept stays until the program "
        "ends."
    ),
)
