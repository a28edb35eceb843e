"""LW213 serializable-registry: Keras keeps every class that was ever registered."""

from lowwater.causes.upstream._known_leak import KnownLeak, since

SERIALIZABLE_REGISTRY = KnownLeak(
    code="LW213",
    name="serializable-registry",
    library="keras",
    affects=since(3),
    affected="measured on 3.15; other releases were not measured",
    issue="streamlit/streamlit#12045",
    what=(
        "Keras keeps every class registered with `register_keras_serializable`, even when its "
        "name is registered again."
    ),
    costs="Each class, with everything that its methods refer to.",
    advice=(
        "Register at the top level of a module that is imported once, not in a function, a loop "
        "or a cell that runs again."
    ),
)
