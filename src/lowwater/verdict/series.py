"""A series of low-water marks: the numbers that all judging is about."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """Bytes `y` at the rounds `x`, the rounds ascending.

    At a break the level changed for a reason of its own, and by an unknown amount:
    marks on different sides of it say nothing about a trend.
    """

    x: Floats
    y: Floats
    breaks: tuple[float, ...] = ()

    def __len__(self) -> int:
        """How many marks there are."""
        return len(self.x)

    @property
    def span(self) -> float:
        """How many rounds lie between the first mark and the last."""
        return float(self.x[-1] - self.x[0]) if len(self) else 0.0

    @property
    def parts(self) -> NDArray[np.int64]:
        """For each mark, between which breaks it lies."""
        return np.searchsorted(np.array(sorted(self.breaks)), self.x, side="right")

    def index_of(self, round_: float) -> int:
        """Which mark is the first from that round on."""
        return int(np.searchsorted(self.x, round_))

    def skip(self, count: int) -> "Series":
        """The marks without the first `count`."""
        return Series(self.x[count:], self.y[count:], self.breaks)

    def until(self, count: int) -> "Series":
        """The first `count` marks."""
        return Series(self.x[:count], self.y[:count], self.breaks)

    def at(self, indices: list[int]) -> "Series":
        """Some of the marks."""
        return Series(self.x[indices], self.y[indices])

    def where(self, is_kept: NDArray[np.bool_]) -> "Series":
        """The marks that are kept."""
        return Series(self.x[is_kept], self.y[is_kept], self.breaks)

    def since(self, round_: float) -> "Series":
        """The marks from that round on."""
        return Series(self.x[self.x >= round_], self.y[self.x >= round_], self.breaks)


NOTHING = Series(np.zeros(0), np.zeros(0))


def lowest_of_stretches(series: Series, most: int) -> Series:
    """At most `most` marks, each the lowest of a stretch."""
    if len(series) <= most:
        return series
    stretches = np.array_split(np.arange(len(series)), most)
    lowest = np.array([part[np.argmin(series.y[part])] for part in stretches])
    return Series(series.x[lowest], series.y[lowest])
