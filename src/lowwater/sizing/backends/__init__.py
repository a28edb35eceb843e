"""One file per framework: real steps at any batch size, and their peaks."""

from collections.abc import Mapping
from importlib import import_module
from typing import Final

from lowwater.errors import UsageError
from lowwater.sizing.backends._steps import Steps
from lowwater.sizing.subject import Subject

# Backend of Keras -> the module with its `STEPS`, a class that is made of a subject, and
# `variables(limit_bytes)`, the environment of the process in which it measures.
BACKENDS: Final = {
    "tensorflow": "lowwater.sizing.backends.tensorflow",
}


def steps_of(subject: Subject) -> Steps:
    """What makes the steps of this subject, here in this process."""
    made: Steps = import_module(_module(subject.backend)).STEPS(subject)
    return made


def variables_of(backend: str, limit_bytes: int | None) -> Mapping[str, str]:
    """The environment in which the process must start, with this limit if there is one."""
    found: Mapping[str, str] = import_module(_module(backend)).variables(limit_bytes)
    return found


def _module(backend: str) -> str:
    if backend not in BACKENDS:
        raise UsageError(
            "footprint does not support this backend of Keras",
            received=backend,
            advice=", ".join(BACKENDS),
        )
    return BACKENDS[backend]


def all_variables() -> Mapping[str, str]:
    """The environment for a script whose backend is not known yet."""
    found: dict[str, str] = {}
    for backend in BACKENDS:
        found |= variables_of(backend, None)
    return found
