"""Another behaviour of malloc: one arena, and free memory is given back at once."""

from collections.abc import Mapping

from lowwater.diagnose.factors._factor import Factor


class OtherHeap(Factor):
    """By the settings of glibc, which it reads when the process starts."""

    key = "heap"
    name = "another heap (trim)"
    cleared = "not fragmentation"
    blamed = "how malloc keeps free memory"
    codes = ("LW402",)
    is_about_holes = True

    def variables(self) -> Mapping[str, str]:
        """Read by glibc when the process starts."""
        return {
            "MALLOC_ARENA_MAX": "1",
            "MALLOC_TRIM_THRESHOLD_": "65536",
            # What is larger than this gets pages of its own, and leaves no hole.
            "MALLOC_MMAP_THRESHOLD_": "8192",
            "MALLOC_MMAP_MAX_": "30000",
        }
