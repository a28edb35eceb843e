"""Single rounds that stand out: spikes, upward jumps, and the falls of a sawtooth."""

from dataclasses import dataclass

import numpy as np

from lowwater.verdict.trend import Floats

# Six robust standard deviations: noise alone does not get there in a few hundred rounds.
_OUTSTANDING = 6.0
_MAD_TO_SIGMA = 1.4826
# Below these a jump is no different from the scatter of a quiet program.
_SMALLEST_JUMP_SHARE = 0.05
_SMALLEST_JUMP_BYTES = 1 << 20
# Jumps in more rounds than this share are how the series rises, not exceptions to it.
_MOST_JUMPS = 0.25
# A fall of a sawtooth takes back at least this share of all that the series ever rose.
_FALL_SHARE = 0.3
# Between two falls nearly every round of a sawtooth rises; in noise every second one does.
_RISING_SHARE = 0.75


@dataclass(frozen=True, slots=True)
class Jumps:
    """The rounds (`after` the mark of that index) that rose by far more than the others."""

    after: tuple[int, ...]
    excess: tuple[float, ...]

    @property
    def total(self) -> float:
        """All bytes that came by jumps."""
        return sum(self.excess)


def despiked(y: Floats) -> Floats:
    """The marks with isolated upward spikes cut down to the higher neighbour."""
    if len(y) < 3:
        return y
    neighbours = np.maximum(y[:-2], y[2:])
    is_spike = y[1:-1] - neighbours > _scatter(np.diff(y)) * _OUTSTANDING
    inner = np.where(is_spike, neighbours, y[1:-1])
    return np.concatenate((y[:1], inner, y[-1:]))


def find_jumps(x: Floats, y: Floats) -> Jumps:
    """Upward jumps between rounds that otherwise change alike; neighbours do not both jump."""
    if len(y) < 6:
        return Jumps((), ())
    excess = _excess(x, y)
    outstanding = excess > _threshold(excess, y)
    alone = outstanding.copy()
    alone[1:] &= ~outstanding[:-1]
    alone[:-1] &= ~outstanding[1:]
    found = np.flatnonzero(alone)
    if len(found) > _MOST_JUMPS * len(excess) or len(found) < outstanding.sum():
        return Jumps((), ())
    return Jumps(tuple(found.tolist()), tuple(excess[found].tolist()))


def without_jumps(y: Floats, jumps: Jumps) -> Floats:
    """The marks with every jump taken out: what happens between the jumps."""
    lifted = np.zeros_like(y)
    for index, excess in zip(jumps.after, jumps.excess, strict=True):
        lifted[index + 1 :] += excess
    return y - lifted


def sawtooth_lows(y: Floats) -> tuple[int, ...]:
    """The indices right after each large fall, if the series is a sawtooth; else nothing."""
    changes = np.diff(y)
    if len(changes) < 5:
        return ()
    falls = changes < -max(_FALL_SHARE * float(np.ptp(y)), _SMALLEST_JUMP_BYTES)
    rises = changes[~falls] > 0
    few = 0 < falls.sum() <= len(changes) / 3
    if not few or rises.mean() < _RISING_SHARE:
        return ()
    return tuple((np.flatnonzero(falls) + 1).tolist())


def _excess(x: Floats, y: Floats) -> Floats:
    """What each round rose beyond the usual round."""
    gaps = np.diff(x)
    return np.asarray(np.diff(y) - np.median(np.diff(y) / gaps) * gaps)


def _threshold(excess: Floats, y: Floats) -> float:
    return max(
        _OUTSTANDING * _scatter(excess),
        _SMALLEST_JUMP_SHARE * float(np.ptp(y)),
        _SMALLEST_JUMP_BYTES,
    )


def _scatter(changes: Floats) -> float:
    """A standard deviation that a few outliers cannot move."""
    return _MAD_TO_SIGMA * float(np.median(np.abs(changes - np.median(changes))))
