"""LW210 xla-cache: TensorFlow keeps every program that XLA has compiled."""

from lowwater.causes.upstream._known_leak import KnownLeak, since

XLA_CACHE = KnownLeak(
    code="LW210",
    name="xla-cache",
    library="tensorflow",
    affects=since(2, 16),
    affected="reported on 2.16, measured on 2.21; no release without it is known",
    issue="tensorflow/tensorflow#64170",
    what="TensorFlow keeps every program that XLA compiled, even for deleted models.",
    costs=(
        "2 MB for each small model that is fitted with `jit_compile=True`, 0.4 MB for each that "
        "predicts, 0.2 MB for each new shape; nothing that we tried frees it."
    ),
    advice=(
        "Compile with `jit_compile=False`, or run each training in its own process. Do not call "
        "`clear_session()` between fits of one compiled model: it is compiled again."
    ),
)
