"""LW404 native-growth."""

from lowwater.causes import _words
from lowwater.causes._cause import Account, Cause
from lowwater.model import Evidence, NativeSite, NativeTrace
from lowwater.units import format_bytes

# Sizes of Python objects are good to a few percent: less than this may be the error of our sum.
_LEAST_SHARE = 0.2
# Between two censuses that are close together, malloc alone may take this much.
_LEAST_BYTES = 1 << 20
# A site with less of the unexplained growth does not explain it.
_LEAST_OF_SITE = 0.25
_MOST = 0.5
# memray sees the memory of Python objects as well: only what is clearly more than these have
# grown by cannot be theirs.
_BEYOND_OBJECTS = 1.25


class NativeGrowth(Cause):
    """Memory in use grows, and no Python object explains it.

    The growth was measured in the allocator, so it is real.
    But all objects of the program together did not grow by as much, and nothing that is known
    to hold memory outside of Python was seen to grow either.
    It may be a library's own cache, an extension that forgets to free, or threads.

    With `pip install 'lowwater[native]'` memray watches a few rounds of such a run, which are
    several times slower, and the line that allocates is named, with the native function.
    It is left out where a pool allocator would make its answer misleading, where the program has
    a profile function of its own, and where one round takes longer than 20 s; a note says so.

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
        "After `pip install 'lowwater[native]'` run again: memray then names the line, unless "
        "a note says why it could not. Or leave out parts of the loop, one at a time: the part "
        "without which memory stays level holds it."
    )

    def in_rest(self, rest_bytes: int, evidence: Evidence) -> Account | None:
        """A good part of the growth that nothing else explains."""
        if rest_bytes < max(_LEAST_BYTES, _LEAST_SHARE * evidence.growth_bytes):
            return None
        growth = format_bytes(evidence.growth_bytes)
        told = (
            f"{format_bytes(rest_bytes)} of the {growth} by which memory in use grew are in no "
            "Python object that Lowwater can see"
        )
        loop, trace = _words.unit_of(evidence).where, evidence.native_trace
        share_of_rest = min(1.0, rest_bytes / evidence.growth_bytes)
        found = _leading(trace, share_of_rest) if trace else None
        if trace is None or found is None:
            return Account(f"{told}; {_unknown(trace, loop)}", where=loop, fix=_fix_after(trace))
        site, share = found
        seen = f"memray watched {trace.rounds:,} rounds and saw {_much(share)} allocated"
        return Account(f"{told}. {seen} {_place(site)}.", where=site.where or loop, fix=_FIX)


_FIX = (
    "Look for what this call keeps, and free or close it; if it is a library that keeps it, "
    "call it less often, and report it there with this function."
)
_FIX_UNSEEN = (
    "Leave out parts of the loop, one at a time, and run again: the part without which memory "
    "stays level holds it."
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
        return f"memray watched {trace.rounds:,} rounds and saw no place that takes most of them."
    return (
        f"which part of the {'loop at this line' if loop else 'program'} takes them is not known."
    )


def _fix_after(trace: NativeTrace | None) -> str | None:
    return _FIX_UNSEEN if trace is not None else None
