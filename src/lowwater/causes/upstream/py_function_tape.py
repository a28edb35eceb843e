"""LW305 py-function-tape: TensorFlow keeps what a `py_function` saw under a tape."""

from lowwater.causes.upstream._known_leak import KnownLeak, since

PY_FUNCTION_TAPE = KnownLeak(
    code="LW305",
    name="py-function-tape",
    library="tensorflow",
    affects=since(2),
    affected="reported on 2.0, measured on 2.21; no release without it is known",
    issue="tensorflow/tensorflow#35084",
    what=(
        "TensorFlow keeps the inputs and outputs of each `py_function` that runs while a tape is "
        "recording, until its gradient is computed."
    ),
    costs="The inputs and outputs of every such call.",
    advice=(
        "Call it outside the tape, or under `with tape.stop_recording():`. If you need no "
        "gradient, use `tf.numpy_function`."
    ),
)
