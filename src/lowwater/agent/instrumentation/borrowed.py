"""Modules that we have loaded, and that the program may have modules of its own instead of.

A file `array.py` beside a script is what `import array` means there. So what we need is loaded
before that folder is on the path; and it is forgotten again where the program has its own, which
it would not find otherwise.
"""

import os
import sys
from collections.abc import Collection
from importlib import import_module
from importlib.machinery import FrozenImporter, PathFinder

# Our own modules that are loaded when a census is due, and what they import.
OURS_LATER = (
    "lowwater.agent.census.census",
    "lowwater.agent.census.growth_site",
    "lowwater.agent.census.tallies",
)
NEEDED_LATER = ("array", "contextvars", "mmap")


def load_what_is_needed_later() -> None:
    """Import what our own modules will import while the program runs."""
    for name in NEEDED_LATER:
        import_module(name)


def forget_shadowed(loaded_before: Collection[str]) -> None:
    """Let the program import its own modules, which lie on the path before Python's."""
    library = os.path.dirname(os.__file__)
    folders = sys.path[: sys.path.index(library)] if library in sys.path else sys.path[:1]
    ours = {name.partition(".")[0] for name in sys.modules} - {*loaded_before, "lowwater"}
    shadowed = {name for name in ours if _is_found(name, folders)}
    # Whoever of us needs one of these has to have it before.
    for name in OURS_LATER if shadowed else ():
        import_module(name)
    for name in [*sys.modules]:
        if name.partition(".")[0] in shadowed:
            del sys.modules[name]


def _is_found(name: str, folders: list[str]) -> bool:
    """Whether an import would find it there; built-in and frozen modules come first."""
    if name in sys.builtin_module_names or FrozenImporter.find_spec(name) is not None:
        return False
    found = PathFinder.find_spec(name, folders)
    # Without a loader it is a folder of any content, behind all modules.
    return found is not None and found.loader is not None
