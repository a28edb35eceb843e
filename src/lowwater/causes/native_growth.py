"""LW404 native-growth."""

from lowwater.causes import _words
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._growth import growth_bytes, unexplained_bytes
from lowwater.model import Evidence, NativeSite, NativeTrace
from lowwater.model.units import format_bytes

# Sizes of Python objects are good to a few percent: less than this may be the error of our sum.
_LEAST_SHARE = 0.2
# Between two censuses that are close together, malloc alone may take this much.
_LEAST_BYTES = 1 << 20
# A site with less of the unexplained growth does not explain it.
_LEAST_OF_SITE = 0.25
_MOST = 0.5
_UNSEEN = "no Python object that Lowwater can see"
_UNNAMED = "Python or library objects that no line of the program leads to"
# memray sees the memory of Python objects as well: only what is clearly more than these have
# grown by cannot be theirs.
_BEYOND_OBJECTS = 1.25


class NativeGrowth(Cause):
    """Memory in use grows, and no Python object explains it.

    The growth was measured in the allocator, so it is real.
    But the objects of the program did not grow by as much, and nothing else known to hold memory
    outside Python grew.
    It may be a cache inside a library, an extension that does not free its memory, or threads.
    Lowwater also reports this cause if Python or library objects did grow, but no line or name
    in the program leads to them.

    With `pip install 'lowwater[native]'`, memray watches a few rounds of such a run and makes
    them several times slower. The report then names the line that allocates, and the native
    function.
    memray is not used if a pool allocator would make its results misleading, if the program uses
    its own profile function, or if one round takes longer than 20 s. A note says so.

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
        "Run again after `pip install 'lowwater[native]'`: memray then names the line, unless a "
        "note says why it could not. Or leave out parts of the loop, one at a time: if memory "
        "stays level without a part, that part holds it."
    )

    def in_rest(self, rest_bytes: int, evidence: Evidence) -> Claim | None:
        """A good part of the growth that nothing else explains."""
        if rest_bytes < max(_LEAST_BYTES, _LEAST_SHARE * growth_bytes(evidence)):
            return None
        growth = format_bytes(growth_bytes(evidence))
        told = (
            f"Of {growth} of growth, {format_bytes(rest_bytes)} is in "
            f"{(_UNSEEN if unexplained_bytes(evidence) >= _MOST * rest_bytes else _UNNAMED)}"
        )
        loop, trace = _words.unit_of(evidence).where, evidence.native_trace
        share_of_rest = min(1.0, rest_bytes / growth_bytes(evidence))
        found = _leading(trace, share_of_rest) if trace else None
        if trace is None or found is None:
            return Claim(f"{told}; {_unknown(trace, loop)}", where=loop, fix=_fix_after(trace))
        site, share = found
        seen = f"memray watched {trace.rounds:,} rounds and saw {_much(share)} allocated"
        return Claim(f"{told}. {seen} {_place(site)}.", where=site.where or loop, fix=_FIX)


_FIX = (
    "Look for what this call keeps, and free or close it. If a library keeps it, call it less "
    "often, and report this function to the library."
)
_FIX_UNSEEN = (
    "Leave out parts of the loop, one at a time, and run again: if memory stays level without a "
    "part, that part holds it."
)


def _leading(trace: NativeTrace, share_of_rest: float) -> tuple[NativeSite, float] | None:
    """The site that has most of what was unexplained while memray watched, and its share."""
    if not trace.sites or trace.grown_bytes <= 0:
        return None
    largest = max(trace.sites, key=lambda site: site.grown_bytes)
    in_objects = trace.grown_bytes * (1 - share_of_rest)
    share = largest.grown_bytes / (trace.grown_bytes * share_of_rest)
    if share < _LEAST_OF_SITE or largest.grown_bytes < _BEYOND_OBJECTS * in_objects:
        return None
    return largest, min(1.0, share)


def _much(share: float) -> str:
    return f"{'most' if share >= _MOST else 'a part'} of it ({share:.0%})".replace("%", " %")


def _place(site: NativeSite) -> str:
    """`at train.py:22, in `leak_some``; what is not known is left out."""
    native = f"in `{site.native}`" if site.native else ""
    if site.where:
        return f"at {site.where}, {native or f'in a call from `{site.function}`'}"
    caller = f"called from `{site.function}`" if site.function else "in no Python function"
    return f"{native or 'in native code'}, {caller}, at no line of the program"


def _unknown(trace: NativeTrace | None, loop: str | None) -> str:
    if trace is not None:
        return (
            f"memray watched {trace.rounds:,} rounds and found no place that allocates most of it."
        )
    part = "loop at this line" if loop else "program"
    return f"it is not known which part of the {part} allocates it."


def _fix_after(trace: NativeTrace | None) -> str | None:
    return _FIX_UNSEEN if trace is not None else None
