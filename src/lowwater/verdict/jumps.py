"""Single rounds that stand out: spikes, upward jumps, and the falls of a sawtooth."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowwater.verdict.series import Floats, Series

# Five robust standard deviations: noise alone hardly gets there in a few hundred rounds.
_OUTSTANDING = 5.0
_MAD_TO_SIGMA = 1.4826
# Below these a jump is no different from the scatter of a quiet program.
_SMALLEST_JUMP_SHARE = 0.05
_SMALLEST_JUMP_BYTES = 1 << 20
# Jumps in more rounds than this share are how the series rises, not exceptions to it.
_MOST_JUMPS = 0.25
# Fewer marks have no usual round from which one could stand out.
_MARKS_FOR_A_SPIKE = 3
_MARKS_FOR_A_PATTERN = 6
_MARKS_OF_A_LEVEL = 5
# A fall of a sawtooth takes back at least this share of all that the series ever rose.
_FALL_SHARE = 0.3
# Between two falls nearly every round of a sawtooth rises; in noise every second one does.
_RISING_SHARE = 0.75
_MOST_FALLS = 0.4
_STEEP = 1.4
# Two falls may be noise: then no single rise may come near to them.
_SEVERAL_FALLS = 3


@dataclass(frozen=True, slots=True)
class Jumps:
    """The rounds (`after` the mark of that index) that rose by far more than the others."""

    after: tuple[int, ...]
    excess: tuple[float, ...]

    @property
    def total(self) -> float:
        """All bytes that came by jumps."""
        return sum(self.excess)


def despiked(series: Series) -> Series:
    """The marks with isolated upward spikes cut down to the higher neighbour."""
    y = series.y
    if len(y) < _MARKS_FOR_A_SPIKE:
        return series
    neighbours = np.maximum(y[:-2], y[2:])
    is_spike = y[1:-1] - neighbours > _scatter(np.diff(y)) * _OUTSTANDING
    inner = np.where(is_spike, neighbours, y[1:-1])
    return Series(series.x, np.concatenate((y[:1], inner, y[-1:])), series.breaks)


def find_jumps(series: Series) -> Jumps:
    """Upward jumps between rounds that otherwise change alike; two in a row are a ramp."""
    if len(series) < _MARKS_FOR_A_PATTERN:
        return Jumps((), ())
    excess = _excess(series)
    outstanding = excess > _threshold(excess, series.y)
    found = np.flatnonzero(outstanding)
    is_ramp = bool((outstanding[1:] & outstanding[:-1]).any())
    if is_ramp or len(found) > _MOST_JUMPS * len(excess):
        return Jumps((), ())
    heights = {int(index): _height(series, int(index)) for index in found}
    lasting = {index: height for index, height in heights.items() if height >= excess[index] / 2}
    return Jumps(tuple(lasting), tuple(lasting.values()))


def without_jumps(series: Series, jumps: Jumps) -> Series:
    """The marks with every jump taken out, and a break in its place."""
    lifted = np.zeros_like(series.y)
    for index, excess in zip(jumps.after, jumps.excess, strict=True):
        lifted[index + 1 :] += excess
    breaks = tuple(float(series.x[index + 1]) for index in jumps.after)
    return Series(series.x, series.y - lifted, (*series.breaks, *breaks))


def sawtooth_lows(series: Series) -> Series:
    """The marks right after each large fall, if the series is a sawtooth; else none."""
    changes = np.diff(series.y)
    nothing = Series(series.x[:0], series.y[:0])
    if len(series) < _MARKS_FOR_A_PATTERN:
        return nothing
    falls = changes < -max(_FALL_SHARE * float(np.ptp(series.y)), _SMALLEST_JUMP_BYTES)
    found = np.flatnonzero(falls)
    few = 0 < len(found) <= _MOST_FALLS * len(changes)
    if not few or (changes[~falls] > 0).mean() < _RISING_SHARE:
        return nothing
    is_tooth = _is_climbed(changes, found) and _is_steep(changes, found)
    return Series(series.x[found + 1], series.y[found + 1]) if is_tooth else nothing


def _is_climbed(changes: Floats, falls: NDArray[np.int64]) -> bool:
    """Whether two or more rises come before each fall but the first, which may be cut off."""
    return all((changes[index - 2 : index] > 0).all() for index in falls[1:])


def _is_steep(changes: Floats, falls: NDArray[np.int64]) -> bool:
    """Whether a fall is far larger than the single steps of the climb."""
    rises = changes[changes > 0]
    usual = np.median(rises) if len(falls) >= _SEVERAL_FALLS else rises.max(initial=0.0)
    return bool(-np.median(changes[falls]) >= _STEEP * usual)


def _excess(series: Series) -> Floats:
    """What each round rose beyond the usual round."""
    gaps, changes = np.diff(series.x), np.diff(series.y)
    return np.asarray(changes - np.median(changes / gaps) * gaps)


def _height(series: Series, index: int) -> float:
    """By how much the level stays up after a jump, judged by a few marks on either side."""
    rate = float(np.median(np.diff(series.y) / np.diff(series.x)))
    level = series.y - rate * series.x
    before = level[max(index + 1 - _MARKS_OF_A_LEVEL, 0) : index + 1]
    after = level[index + 1 : index + 1 + _MARKS_OF_A_LEVEL]
    return float(np.median(after) - np.median(before))


def _threshold(excess: Floats, y: Floats) -> float:
    return max(
        _OUTSTANDING * _scatter(excess),
        _SMALLEST_JUMP_SHARE * float(np.ptp(y)),
        _SMALLEST_JUMP_BYTES,
    )


def _scatter(changes: Floats) -> float:
    """A standard deviation that a few outliers cannot move."""
    return _MAD_TO_SIGMA * float(np.median(np.abs(changes - np.median(changes))))
