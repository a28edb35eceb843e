"""Which aligned blocks of memory are regions of TensorFlow's host pool, by their sizes.

A region is a power of two, but for two cases. A pool with a limit takes as its last region what is
left of it: 2, 4, 8, 16, 32 and 38 MiB were measured with a limit of 100 MiB. And where memory is
refused, it asks for a tenth less until it gets some: under `ulimit -v` 46.7 MiB followed 32 MiB,
which is 64 MiB less a tenth, three times.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

LEAST_REGION: Final = 2 << 20
# Of 2 to 32 MiB: glibc maps every block of more on its own, however its threshold has moved.
MOST_IN_HEAP: Final = 62 << 20
# A large tensor gets a region of its size, and the next region may be as large once more.
_MOST_ALIKE: Final = 2
_REFUSED: Final = 0.9
# After each refusal the next region is asked for as if the last had been whole: six times is more
# than a limit leaves room for.
_MOST_DOUBLINGS: Final = 6
_PAGE: Final = 4096


def regions_among(
    sizes: Iterable[int], limit_bytes: int | None = None, *, may_be_refused: bool = False
) -> list[int]:
    """Those of the aligned blocks that are regions; `limit_bytes` is the most the pool may take."""
    alike = Counter(sizes)
    found = {size: min(count, _MOST_ALIKE) for size, count in alike.items() if is_doubled(size)}
    if may_be_refused:
        asked = max(found, default=LEAST_REGION) << _MOST_DOUBLINGS
        cut = {size for size in alike if not is_doubled(size) and _is_cut(size, asked)}
        found |= {size: min(alike[size], _MOST_ALIKE) for size in cut}
    regions = list(Counter(found).elements())
    if limit_bytes is None:
        return regions
    left = limit_bytes - sum(regions)
    return [*regions, *_last(alike.keys() - found.keys(), left)]


def is_doubled(size: int) -> bool:
    """Whether it is the size of a region that was neither limited nor refused."""
    return size >= LEAST_REGION and size & (size - 1) == 0


def _last(sizes: Iterable[int], left_bytes: int) -> list[int]:
    """The region that takes what is left of the limit, if it is there yet.

    The smaller regions in the heap, which cannot be read, are a part of what is left.
    """
    in_heap = range(0, MOST_IN_HEAP + 1, LEAST_REGION)
    return sorted(size for size in sizes if left_bytes - size in in_heap)[-1:]


def _is_cut(size: int, most_asked: int) -> bool:
    """Whether a power of two becomes this size, give or take a page, by tenths that are taken."""
    asked = 1 << size.bit_length()
    return any(
        abs(cut - size) <= _PAGE
        for power in _doubled_up_to(asked, max(asked, most_asked))
        for cut in _cuts_of(power, size)
    )


def _doubled_up_to(first: int, last: int) -> Iterator[int]:
    while first <= last:
        yield first
        first *= 2


def _cuts_of(asked: float, least: int) -> Iterator[float]:
    while asked >= least - _PAGE:
        yield asked
        asked *= _REFUSED
