"""One file per framework: real steps at any batch size, and their peaks."""

from collections.abc import Mapping
from importlib import import_module
from typing import Final

from lowwater.errors import UsageError
from lowwater.sizing.backends._steps import Steps
from lowwater.sizing.step_function import StepFunction
from lowwater.sizing.subject import Subject

# Backend of Keras -> the module with `STEPS`, a class that is made of a subject,
# `FUNCTION_STEPS`, the same for a step function, and `variables(limit_bytes)`, the environment
# of the process in which it measures.
BACKENDS: Final = {
    "tensorflow": "lowwater.sizing.backends.tensorflow",
    "jax": "lowwater.sizing.backends.jax",
    "torch": "lowwater.sizing.backends.torch",
}


def steps_of(subject: Subject) -> Steps:
    """What makes the steps of this subject, here in this process."""
    module = import_module(_module(subject.backend))
    is_function = isinstance(subject.model, StepFunction)
    made: Steps = (module.FUNCTION_STEPS if is_function else module.STEPS)(subject)
    return made


def variables_of(backend: str, limit_bytes: int | None) -> Mapping[str, str]:
    """The environment in which the process must start, with this limit if there is one."""
    found: Mapping[str, str] = import_module(_module(backend)).variables(limit_bytes)
    return found


def has_pool(backend: str) -> bool:
    """Whether its tensors come from a pool, so that a peak depends on what was made before."""
    return bool(getattr(import_module(_module(backend)), "HAS_POOL", False))


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
