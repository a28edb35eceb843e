"""LW404 native-growth."""

from lowwater.causes import _words
from lowwater.causes._cause import Account, Cause
from lowwater.model import Evidence
from lowwater.units import format_bytes

# Sizes of Python objects are good to a few percent: less than this may be the error of our sum.
_LEAST_SHARE = 0.2


class NativeGrowth(Cause):
    """Memory in use grows, and no Python object explains it.

    The growth was measured in the allocator, so it is real.
    But all objects of the program together did not grow by as much, and nothing that is known
    to hold memory outside of Python was seen to grow either.
    It may be a library's own cache, an extension that forgets to free, or threads.

    Leaks:

        library = ctypes.CDLL(None)
        for epoch in range(100):
            library.malloc(4_000_000)

    Stays flat:

        for epoch in range(100):
            buffer = ctypes.create_string_buffer(4_000_000)
    """

    code = "LW404"
    name = "native-growth"
    fix = (
        "Leave out parts of the loop, one at a time, and run again: the part without which "
        "memory stays level holds it; `memray run --native` then names the call."
    )

    def in_rest(self, rest_bytes: int, evidence: Evidence) -> Account | None:
        """A good part of the growth that nothing else explains."""
        if rest_bytes < _LEAST_SHARE * evidence.growth_bytes:
            return None
        much, loop = format_bytes(rest_bytes), _words.unit_of(evidence).where
        inside = "loop at this line" if loop else "program"
        message = (
            f"{much} of the {format_bytes(evidence.growth_bytes)} by which memory in use grew "
            f"are in no Python object; which part of the {inside} takes them is not known."
        )
        return Account(message, where=loop)
