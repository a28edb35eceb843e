"""Verdicts in words: each function gives one kind of answer on one case."""

import math
from dataclasses import replace

import numpy as np

from lowwater.model import Kind, Verdict, gauges
from lowwater.model.policy import POLICY
from lowwater.model.units import format_bytes
from lowwater.verdict import words
from lowwater.verdict.account import Account
from lowwater.verdict.asked import Asked
from lowwater.verdict.case import CLOCK_UNIT, Case
from lowwater.verdict.growth import is_slow, rounds_to_certainty
from lowwater.verdict.kept import explain, subject
from lowwater.verdict.series import Series
from lowwater.verdict.trend import Trend, trend


def leak(case: Case, growth: Trend, since: float | None = None) -> Verdict:
    """Bytes in use rise, and go on rising; `since` is given when they began late."""
    growth = _with_garbage(case, _with_error_of_blocks(case, growth))
    when = _late(case, growth, since) if since is not None else _throughout(case, growth)
    because = f"{subject(case)} {when} ({words.between(growth)})"
    return build(case, Kind.LEAK, because + _if_slow(case, growth), growth)


def leak_under_garbage(case: Case, live: Trend, freed_bytes: int) -> Verdict:
    """What the collector leaves behind rises."""
    live = _with_error_of_blocks(case, live)
    because = (
        f"{subject(case)} rose by {format_bytes(live.slope)} per {words.one(case.unit)} "
        f"({words.between(live)}), counting only what is still in use after "
        f"{len(case.collected.x)} garbage collections; each freed about "
        f"{format_bytes(freed_bytes)}"
    )
    return build(case, Kind.LEAK, because + _if_slow(case, live), live)


def leak_under_sawtooth(case: Case, lows: Trend) -> Verdict:
    """It falls back, but never as low as before."""
    lows = _with_error_of_blocks(case, lows)
    because = (
        f"{subject(case)} falls back now and then, but its low points rise by "
        f"{format_bytes(lows.slope)} per {words.one(case.unit)} ({words.between(lows)})"
    )
    return build(case, Kind.LEAK, because + _if_slow(case, lows), lows)


def sawtooth(case: Case, lows: Series) -> Verdict:
    """It falls back by itself to one level."""
    because = (
        f"{subject(case)} rises and falls: it fell back {len(lows)} times to about "
        f"{format_bytes(float(np.median(lows.y)))}"
    )
    return build(case, Kind.SAWTOOTH, because, trend(lows))


def waits_for_collector(case: Case, live: Trend | None, freed_bytes: int) -> Verdict:
    """The rise is garbage, as an experiment showed."""
    left = "does not grow"
    if live is not None and live.low > 0 and len(case.collected.x) >= POLICY.settled_marks:
        rate = f"{format_bytes(live.slope)} per {words.one(case.unit)}"
        left = f"grows by {rate}, {format_bytes(live.slope * case.steady.span)} so far"
    because = (
        f"{subject(case)} rises until Python collects garbage: a collection freed "
        f"{format_bytes(freed_bytes)}, and what remains {left}"
    )
    return build(case, Kind.SAWTOOTH, because, live)


def settled(case: Case, account: Account, asked: Asked) -> Verdict:
    """No leak: what it is instead."""
    kind, because = explain(case, account, asked)
    return build(case, kind, because, account.growth)


def needs_more(case: Case, growth: Trend, more: int, why: str = "") -> Verdict:
    """Not enough to tell, and how many more rounds would do."""
    more = max(more, 1, rounds_to_certainty(case.steady, growth.slope))
    reason = f": {why}" if why else ""
    seen = f"{subject(case)} cannot be judged after {words.counted(case.rounds, case.unit)}{reason}"
    return _unsure(case, seen, growth, more)


def too_few(case: Case) -> Verdict:
    """Hardly begun."""
    fewest = POLICY.clock_stretches if case.unit.name == CLOCK_UNIT else POLICY.fewest_rounds
    more = max(1, fewest - case.rounds)
    seen = (
        (f"only {words.counted(case.rounds, case.unit)} seen")
        if case.rounds
        else "no round trips seen"
    )
    return _unsure(case, f"{seen}: too few to tell growth from warm-up", None, more)


def _unsure(case: Case, seen: str, growth: Trend | None, more: int) -> Verdict:
    """What would tell; a program that failed cannot be run for longer."""
    if case.broke_off:
        because = f"{seen}; then {case.broke_off}{_until_then(case)}"
        return build(case, Kind.INCONCLUSIVE, because, growth)
    because = f"{seen}; needs about {words.counted(more, case.unit, 'more')}"
    return build(case, Kind.INCONCLUSIVE, because, growth, more)


def _until_then(case: Case) -> str:
    y = case.marks.y
    if len(y) < POLICY.marks_of_a_piece or not (np.diff(y) > 0).all():
        return ""
    rate = format_bytes(float(y[-1] - y[0]) / max(case.marks.span, 1.0))
    return f". Until then it rose in every {words.one(case.unit)}, by about {rate} each"


def foreign_allocator(case: Case, growth: Trend) -> Verdict:
    """Resident memory rises, and nobody knows how much of it is in use."""
    because = (
        f"resident memory rose by {format_bytes(growth.slope)} per {words.one(case.unit)}, but "
        "this malloc does not report the bytes in use and may keep freed memory; run without the "
        "preloaded allocator to judge"
    )
    return build(case, Kind.INCONCLUSIVE, because, growth)


def only_by_clock(case: Case, growth: Trend) -> Verdict:
    """It has more than doubled, and no round trip shows whether it should have."""
    because = (
        f"{subject(case)} rose by {format_bytes(growth.slope)} per second, which may be data "
        'being loaded; mark the round trips with lowwater.boundary("episode") to judge'
    )
    return build(case, Kind.INCONCLUSIVE, because, growth)


def build(
    case: Case, kind: Kind, because: str, growth: Trend | None, more: int | None = None
) -> Verdict:
    """A verdict on this case; growth that has no bounds is left out."""
    known = growth if growth is not None and math.isfinite(growth.high - growth.low) else None
    return Verdict(
        kind,
        because,
        case.unit,
        case.rounds,
        round(known.slope) if known else None,
        (round(known.low), round(known.high)) if known else None,
        more,
        case.place,
    )


def _with_error_of_blocks(case: Case, growth: Trend) -> Trend:
    """The interval with what is not known of CPython's small objects: their bytes are estimated."""
    if case.place != gauges.HOST or case.is_resident:
        return growth
    blocks = case.gauge(gauges.PYTHON_BLOCKS)
    if len(blocks) < POLICY.fewest_marks:
        return growth
    grown = gauges.BYTES_PER_PYTHON_BLOCK * max(0.0, trend(blocks).slope)
    error = POLICY.block_error * min(grown, growth.slope)
    return replace(growth, low=growth.low - error, high=growth.high + error)


def _with_garbage(case: Case, growth: Trend) -> Trend:
    """The interval with the little that collections gave back: as much may be waiting again."""
    found = case.collected
    if not len(found.x):
        return growth
    rate = max(0.0, float(found.freed.sum())) / max(float(found.x[-1]), 1.0)
    return replace(growth, low=growth.low - rate)


def _if_slow(case: Case, growth: Trend) -> str:
    """What a rate that seems small amounts to."""
    return f". {words.amounts(growth.slope, case.unit)}" if is_slow(growth) else ""


def _throughout(case: Case, growth: Trend) -> str:
    rounds, per = case.rounds - case.warmup, format_bytes(growth.slope)
    rose = int((np.diff(case.marks.y)[case.warmup - 1 :] > 0).sum())
    # "Rose in 10 of 10 epochs" convinces; "in 33 of 58" does not, though the slope may be certain.
    # And of a thinned run not every round was kept, so the rises cannot be counted.
    if rose >= POLICY.covers * rounds:
        return f"rose in {rose} of {rounds} {words.many(case.unit)} after warm-up, by {per} each"
    return f"rose by {per} per {words.one(case.unit)} over {rounds} {words.many(case.unit)}"


def _late(case: Case, growth: Trend, since: float) -> str:
    unit = words.one(case.unit)
    return f"has risen since {unit} {since:.0f}, by {format_bytes(growth.slope)} per {unit}"
