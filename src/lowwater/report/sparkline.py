"""A series as a row of small blocks."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

BLOCKS: Final = "▁▂▃▄▅▆▇█"

# A change that is small in itself and small beside the value is no mountain.
_SMALL_SHARE: Final = 0.005
_SMALL_BYTES: Final = 1 << 20


def sparkline(values: Sequence[float], width: int = 16, *, least_change: float = 0) -> str:
    """One block per value, or per `width`-th of them; a level series stays a low line.

    A series is also level where all of its change is below `least_change`.
    """
    if not values or width < 1:
        return ""
    points = _averages(values, width)
    low, high = min(points), max(points)
    if high - low < least_change or _is_level(low, high):
        return BLOCKS[0] * len(points)
    top = len(BLOCKS) - 1
    return "".join(BLOCKS[round((point - low) / (high - low) * top)] for point in points)


def _is_level(low: float, high: float) -> bool:
    change = high - low
    is_small = change < _SMALL_BYTES and change < _SMALL_SHARE * max(abs(low), abs(high))
    return change == 0 or is_small


def _averages(values: Sequence[float], width: int) -> list[float]:
    """At most `width` points, each the mean of an equal stretch of the series."""
    count = min(width, len(values))
    edges = [index * len(values) // count for index in range(count + 1)]
    stretches = [values[start:end] for start, end in pairwise(edges)]
    return [sum(stretch) / len(stretch) for stretch in stretches]
