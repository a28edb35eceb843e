"""Which releases are installed; no framework is imported to find out."""

import importlib.util
import os
import platform
from collections.abc import Mapping

from lowwater.cli._doctor.surroundings import Fact, Machine, Source
from lowwater.model import NotMeasured

# One library, several names on the package index; the first that is installed counts.
DISTRIBUTIONS: Mapping[str, tuple[str, ...]] = {
    "lowwater": ("lowwater",),
    "tensorflow": (
        "tensorflow",
        "tensorflow-cpu",
        "tf-nightly",
        "tf-nightly-cpu",
        "tensorflow-cpu-aws",
        "tensorflow-rocm",
        "tensorflow-macos",
        "tensorflow-intel",
    ),
    "keras": ("keras", "keras-nightly"),
    "tf_keras": ("tf-keras", "tf-keras-nightly"),
    "jax": ("jax",),
    "torch": ("torch",),
    "numpy": ("numpy",),
}


def library_version(library: str, around: Machine) -> str | NotMeasured:
    """The installed release of a library, under whichever name it came."""
    found = filter(None, map(around.version_of, DISTRIBUTIONS[library]))
    version = next(found, None)
    if version is not None:
        return version
    if importlib.util.find_spec(library) is not None:
        return NotMeasured("importable, but installed without package metadata")
    return NotMeasured("not installed")


def _library(library: str) -> Source:
    return lambda around: library_version(library, around)


def _python(_: Machine) -> Fact:
    return f"{platform.python_version()} ({platform.python_implementation()})"


def _glibc(_: Machine) -> Fact:
    try:
        version = os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, OSError, ValueError):
        version = None
    return version.removeprefix("glibc ") if version else NotMeasured("the C library is not glibc")


def _kernel(_: Machine) -> Fact:
    return f"{platform.system()} {platform.release()}"


VERSIONS: Mapping[str, Source] = {
    "python": _python,
    "glibc": _glibc,
    "kernel": _kernel,
    **{library: _library(library) for library in DISTRIBUTIONS},
}
