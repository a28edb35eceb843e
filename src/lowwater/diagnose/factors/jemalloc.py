"""Another malloc: jemalloc in the place of that of glibc."""

import ctypes.util
import glob
import os
from collections.abc import Mapping

from lowwater.diagnose.factors._factor import Factor
from lowwater.diagnose.facts import Facts
from lowwater.probes.glibc import malloc_library

_PRELOAD = "LD_PRELOAD"
_USUAL = (
    "/usr/lib/*/libjemalloc.so.2",
    "/usr/lib*/libjemalloc.so.2",
    "/usr/local/lib/*jemalloc.so.2",
)


def find_jemalloc() -> str | None:
    """The library, where it is installed; asking the system's own list takes a while."""
    found = [file for place in _USUAL for file in sorted(glob.glob(place))]
    return found[0] if found else ctypes.util.find_library("jemalloc")


class Jemalloc(Factor):
    """It sorts pieces by their size, and so leaves other holes."""

    key = "jemalloc"
    name = "another malloc (jemalloc)"
    cleared = "not something that another malloc fixes"
    blamed = "how malloc keeps free memory"
    codes = ("LW402",)
    covers = ("heap",)
    is_about_holes = True
    is_only_about_holes = True

    def why_not(self, facts: Facts) -> str | None:  # noqa: ARG002
        """It has to be here, and not in use already: what is preloaded here is so there."""
        used = malloc_library() or ""
        if used and not used.startswith("libc."):
            return f"the program already uses {used}"
        return None if find_jemalloc() else "jemalloc is not installed"

    def variables(self) -> Mapping[str, str]:
        """It is loaded before all others, together with what the user preloads."""
        libraries = (find_jemalloc(), os.environ.get(_PRELOAD))
        return {_PRELOAD: ":".join(filter(None, libraries))}
