"""What a recording may say about where it was made: versions and a list of settings."""

import os
import platform
import sys
from collections.abc import Mapping

# Only these are stored: the environment of a training job is full of secrets.
ALLOWED_VARIABLES = (
    "CUDA_VISIBLE_DEVICES",
    "KERAS_BACKEND",
    "LD_PRELOAD",
    "MALLOC_ARENA_MAX",
    "MALLOC_CONF",
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_TRIM_THRESHOLD_",
    "OMP_NUM_THREADS",
    "PYTHONMALLOC",
    "TF_CPU_ALLOCATOR_USE_BFC",
    "TF_CPU_BFC_MEM_LIMIT_IN_MB",
    "TF_FORCE_GPU_ALLOW_GROWTH",
    "TF_GPU_ALLOCATOR",
    "TF_USE_LEGACY_KERAS",
    "XLA_FLAGS",
)
_WITH_VERSIONS = ("tensorflow", "keras", "tf_keras", "jax", "torch", "numpy")


def describe(command: str, variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """The facts known before the program starts."""
    variables = os.environ if variables is None else variables
    settings = {name: variables[name] for name in ALLOWED_VARIABLES if name in variables}
    return {
        "script": command,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
        "libc": " ".join(platform.libc_ver()),
        **settings,
    }


def versions_loaded() -> dict[str, str]:
    """The versions of the frameworks that the program has imported by now."""
    loaded = (
        (name, getattr(sys.modules.get(name), "__version__", None)) for name in _WITH_VERSIONS
    )
    return {name: str(version) for name, version in loaded if version is not None}
