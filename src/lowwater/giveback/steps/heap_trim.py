"""Returns to the system what malloc keeps although it is free."""

from lowwater.giveback.request import ReleaseRequest
from lowwater.giveback.steps._step import ReleaseStep
from lowwater.probes.glibc import malloc_library, this_process


class HeapTrim(ReleaseStep):
    """`malloc_trim`, which gives free pages of all of glibc's arenas back to the system."""

    name = "trim the heap"

    def run(self, request: ReleaseRequest) -> str | None:  # noqa: ARG002 - the same for all
        """Trim, where the malloc of this process is glibc's."""
        library = malloc_library()
        if library is None or not library.startswith("libc.so"):
            return f"malloc comes from {library or 'an unknown library'}, which trims its own heap"
        # Not `psutil.heap_trim()`: loading psutil now would be memory that the receipt has to
        # explain, and the probes have loaded what this takes.
        try:
            trim = this_process().malloc_trim
        except AttributeError:
            return "this C library cannot trim its heap"
        trim(0)
        return ""
