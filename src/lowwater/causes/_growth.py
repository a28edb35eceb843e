"""How much grew between the censuses, and how much of it is in no Python object."""

from itertools import pairwise

from lowwater.model import Census, Evidence

# Between two censuses with less of the growth than this, the share of each part is chance.
_LEAST_OF_GROWTH = 0.15


def growth_bytes(evidence: Evidence) -> int:
    """The growth of memory in use between the censuses, less what came only once."""
    censuses = evidence.censuses
    if len(censuses) < 2:  # noqa: PLR2004 - one census has nothing to be compared with
        return 0
    parts = _parts(evidence)
    if not parts:
        return censuses[-1].in_use_bytes - censuses[0].in_use_bytes
    return sum(explained for explained, _ in parts) + unexplained_bytes(evidence)


def unexplained_bytes(evidence: Evidence) -> int:
    """The growth that no Python object accounts for.

    As with paths, what grows is what grew every time: a library that starts up in the first
    interval takes memory too.
    """
    parts = _parts(evidence)
    if not parts:
        held_bytes = sum(holder.grown_bytes for holder in evidence.holders)
        return max(0, growth_bytes(evidence) - held_bytes)
    total = sum(sum(part) for part in parts)
    least = max(1.0, _LEAST_OF_GROWTH * total)
    telling = [part for part in parts if sum(part) >= least]
    share = min((native / (python + native) for python, native in telling), default=0.0)
    python = sum(part for part, _ in parts)
    most = sum(native for _, native in parts)
    return most if share >= 1 else min(most, round(python * share / (1 - share)))


def _parts(evidence: Evidence) -> list[tuple[int, int]]:
    """What Python objects, and what malloc beyond them, grew by from census to census."""
    parts = (_grown(early, late) for early, late in pairwise(evidence.censuses))
    return [part for part in parts if part is not None]


def _grown(early: Census, late: Census) -> tuple[int, int] | None:
    sizes = (early.native_bytes, late.native_bytes, early.large_bytes, late.large_bytes)
    if None in (*sizes, early.objects_bytes, late.objects_bytes):
        return None
    native = (late.native_bytes or 0) - (early.native_bytes or 0)
    large = (late.large_bytes or 0) - (early.large_bytes or 0)
    # Small objects were weighed one by one: better than an average per block.
    small = (late.objects_bytes or 0) - (early.objects_bytes or 0) - large
    beyond = max(0, native - max(0, large))
    return max(0, native - beyond) + max(0, small), beyond
