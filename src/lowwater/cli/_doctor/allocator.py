"""Which malloc is in effect, and how it is set."""

from collections.abc import Mapping

from lowwater.cli._doctor.surroundings import Fact, Machine, Source
from lowwater.model import NotMeasured

# Part of a library's file name -> the allocator; the first that fits counts.
ALLOCATORS: Mapping[str, str] = {
    "jemalloc": "jemalloc",
    "tcmalloc": "tcmalloc",
    "mimalloc": "mimalloc",
    "musl": "musl",
    "libc.so": "glibc",
    "libSystem": "macOS",
    "libsystem_malloc": "macOS",
}
REPLACEMENTS = ("jemalloc", "tcmalloc", "mimalloc")


def allocator_of(library: str) -> str | None:
    """`libjemalloc.so.2` -> `jemalloc`; None for a library that we do not know."""
    return next((name for part, name in ALLOCATORS.items() if part in library), None)


def _malloc(around: Machine) -> Fact:
    library = around.malloc_library()
    if library is None:
        return NotMeasured("the dynamic linker does not report where malloc comes from")
    return f"{allocator_of(library) or 'unknown allocator'} ({library})"


def _preload(around: Machine) -> Fact:
    """LD_PRELOAD, and whether the allocator that it names took effect."""
    value = around.environ.get("LD_PRELOAD", "")
    if not value:
        return "not set"
    wanted = next((name for name in REPLACEMENTS if name in value), None)
    library = around.malloc_library()
    if wanted is None or library is None:
        return value
    if wanted in library:
        return f"{value} (took effect)"
    return f"{value} (did not take effect: malloc comes from {library})"


def _settings(around: Machine) -> Fact:
    """Every setting of malloc in the environment."""
    names = sorted(
        name
        for name in around.environ
        if name.startswith(("MALLOC_", "TCMALLOC_", "MIMALLOC_"))
        or name in {"GLIBC_TUNABLES", "PYTHONMALLOC"}
    )
    return ", ".join(f"{name}={around.environ[name]}" for name in names) or "none"


ALLOCATOR: Mapping[str, Source] = {
    "malloc": _malloc,
    "LD_PRELOAD": _preload,
    "settings": _settings,
}
