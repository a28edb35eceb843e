"""What memory that does not leak is doing: filling a cache, warming up, being kept for reuse."""

from dataclasses import dataclass

import numpy as np

from lowwater import gauges
from lowwater.model import Kind, Sample
from lowwater.units import format_bytes
from lowwater.verdict import words
from lowwater.verdict.case import Case, start_bytes
from lowwater.verdict.growth import MATERIAL_TOTAL, is_material
from lowwater.verdict.series import Series
from lowwater.verdict.shape import Shape, read_shape, rises
from lowwater.verdict.trend import trend

# A jump that a user would notice.
_JUMP_BYTES = 16 << 20
_JUMP_SHARE = 0.05
# A cache is told from a jump by its rises: at least three rounds, none with most of it.
_CACHE_BYTES = 4 << 20
_CACHE_ROUNDS = 3
_CACHE_ROUND_SHARE = 0.05
_CACHE_LARGEST_SHARE = 0.6
_CACHE_PAUSE = 2
# Free memory that a user would ask about.
_KEPT_BYTES = 64 << 20
_KEPT_SHARE = 0.15


@dataclass(frozen=True, slots=True)
class Account:
    """A kind that is no leak, with its reason."""

    kind: Kind
    because: str


def explain(case: Case) -> Account:
    """The most telling innocent reading of a run whose bytes in use have settled."""
    found = _cache(case) or _fragmented(case) or _mapped_files(case)
    return found or _reserved(case) or _warm_up(case) or _flat(case)


def is_noticeable(jump: float, level: float) -> bool:
    """Whether a one-time jump is large enough to be told."""
    return jump >= _JUMP_BYTES and jump >= _JUMP_SHARE * level


def _level(case: Case) -> float:
    """Where the bytes in use have settled: the middle of the last third."""
    return float(np.median(case.marks.y[-max(len(case.marks) // 3, 1) :]))


def _cache(case: Case) -> Account | None:
    y, level = case.marks.y, _level(case)
    risen = level - y[0]
    steps = np.diff(np.minimum(y, level))
    filling = np.flatnonzero(steps >= _CACHE_ROUND_SHARE * risen)
    if risen < _CACHE_BYTES or len(filling) < _CACHE_ROUNDS:
        return None
    if steps.max() > _CACHE_LARGEST_SHARE * risen or (np.diff(filling) > _CACHE_PAUSE).any():
        return None
    until = int(case.marks.x[filling[-1] + 1])
    subject = words.memory_of(case.place, is_resident=case.is_resident)
    still = float(y[-1] - y[filling[-1] + 1]) > _CACHE_ROUND_SHARE * risen
    since = "hardly" if still else "not"
    return Account(
        Kind.CACHE,
        f"{subject} rose by {format_bytes(risen)} until {words.one(case.unit)} {until} "
        f"and has {since} grown since, like a cache or buffer that is full",
    )


def _fragmented(case: Case) -> Account | None:
    free, anon = case.gauge(gauges.HEAP_FREE), case.gauge(gauges.RSS_ANON)
    if case.place != gauges.HOST or not (_keeps_rising(free) and _keeps_rising(anon)):
        return None
    rate = format_bytes(trend(free).slope)
    return Account(
        Kind.FRAGMENTED,
        f"host memory in use is level, but malloc keeps {rate} more per {words.one(case.unit)} "
        f"in holes that it cannot give back ({format_bytes(free.y[-1])} by now)",
    )


def _mapped_files(case: Case) -> Account | None:
    file = case.gauge(gauges.RSS_FILE)
    if case.place != gauges.HOST or not _keeps_rising(file):
        return None
    rate = format_bytes(trend(file).slope)
    return Account(
        Kind.FLAT,
        f"resident memory rose by {rate} per {words.one(case.unit)}, but those are pages of "
        f"mapped files that the kernel takes back when memory is short",
    )


def _keeps_rising(series: Series) -> bool:
    if trend(series).slope * series.span < MATERIAL_TOTAL:
        return False
    return read_shape(series).shape in (Shape.LINE, Shape.LATE)


def _reserved(case: Case) -> Account | None:
    if case.place != gauges.HOST or not case.samples:
        return None
    kept, anon = kept_bytes(case.samples[-1]), case.samples[-1].gauges.get(gauges.RSS_ANON, 0)
    if kept < _KEPT_BYTES or kept < _KEPT_SHARE * anon:
        return None
    return Account(
        Kind.RESERVED,
        f"host memory in use is level; of {format_bytes(anon)} resident, {format_bytes(kept)} "
        f"is free and kept by the allocator for reuse",
    )


def kept_bytes(sample: Sample) -> int:
    """Resident bytes that an allocator keeps though they are free, at the most."""
    seen = sample.gauges
    pool = gauges.pool_free_bytes(seen)
    in_use = gauges.in_use_bytes(seen)
    if gauges.RSS_ANON not in seen or in_use is None:
        return pool
    # After a trim malloc still counts its free bytes, but they are not resident any more.
    room = max(0, seen[gauges.RSS_ANON] - in_use - pool)
    return pool + min(seen.get(gauges.HEAP_FREE, 0), room)


def _warm_up(case: Case) -> Account | None:
    level, start = _level(case), start_bytes(case)
    first = min(float(case.marks.y[0]), level if start is None else float(start))
    if not is_noticeable(level - first, level):
        return None
    # Level from the first mark on that has nine tenths of the way behind it.
    there = np.flatnonzero(case.marks.y >= first + 0.9 * (level - first))
    since = int(case.marks.x[there[0]])
    subject = words.memory_of(case.place, is_resident=case.is_resident)
    return Account(
        Kind.WARM_UP,
        f"{subject} rose by {format_bytes(level - first)} and has been level since "
        f"{words.one(case.unit)} {since}",
    )


def _flat(case: Case) -> Account:
    steady, rounds = case.steady, case.rounds - case.warmup
    growth = trend(steady)
    subject = words.memory_of(case.place, is_resident=case.is_resident)
    if growth.slope >= 1 and rises(steady) and not is_material(growth, steady.span):
        rate = f"{format_bytes(growth.slope)} per {words.one(case.unit)}"
        rate += f", {format_bytes(growth.slope * steady.span)} in all"
        return Account(Kind.FLAT, f"{subject} grows by {rate}: too little to matter")
    over = f"over {rounds} {words.many(case.unit)} after warm-up"
    swing = format_bytes(float(np.ptp(steady.y)))
    if growth.high < 0:
        return Account(Kind.FLAT, f"{subject} fell by {swing} {over}")
    return Account(Kind.FLAT, f"{subject} stayed within {swing} {over}")
