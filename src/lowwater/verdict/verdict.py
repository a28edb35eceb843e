"""From the low-water marks of one unit to a verdict with its reason."""

import math

import numpy as np

from lowwater import gauges
from lowwater.model import Kind, Timeline, Unit, Verdict
from lowwater.units import format_bytes
from lowwater.verdict import words
from lowwater.verdict.garbage import Says, Testimony, ask_collections
from lowwater.verdict.growth import (
    ENOUGH_ROUNDS,
    FEWEST_ROUNDS,
    MATERIAL_IN_FEW_ROUNDS,
    is_enough,
    is_material,
    rounds_to_certainty,
)
from lowwater.verdict.jumps import Jumps, despiked, find_jumps, sawtooth_lows, without_jumps
from lowwater.verdict.kept import explain, is_noticeable
from lowwater.verdict.series import CLOCK_UNIT, Case, Series, open_case
from lowwater.verdict.shape import Form, Shape, read_shape, rises
from lowwater.verdict.trend import Trend, trend

_FEWEST_MARKS = 5
# The clock strikes at any point of a round, so its samples scatter more.
_FEWEST_CLOCK_SAMPLES = 20
# A ramp that began late must last this long before it is more than a last phase of the program.
_LATE_ROUNDS = 6
_LATE_SHARE = 1 / 3
# So many rounds after a jump show that it was a single one.
_ROUNDS_AFTER_A_JUMP = 3
_RECURRING_JUMPS = 3
# Jumps that make up this share of the rise are a pool that grows: its resident part tells how.
_JUMP_SHARE = 0.25
# Lows that vary by less than this share of the falls are one level.
_SAME_LEVEL = 0.35
_LOWS_FOR_A_LINE = 4
_FREED_WORTH_A_WORD = 4 << 20
_MORE_ROUNDS = 4

# Of several places the worst is told, a leak before all.
_SEVERITY = (
    Kind.LEAK,
    Kind.INCONCLUSIVE,
    Kind.FRAGMENTED,
    Kind.CACHE,
    Kind.SAWTOOTH,
    Kind.RESERVED,
    Kind.WARM_UP,
    Kind.FLAT,
)


def judge_unit(timeline: Timeline, unit: Unit) -> Verdict:
    """The verdict on one unit: that of its worst place."""
    seen = dict.fromkeys(p for s in timeline.of(unit) for p in gauges.places(s.gauges))
    verdicts = [judge_case(open_case(timeline, unit, place)) for place in seen]
    if not verdicts:
        return Verdict(Kind.INCONCLUSIVE, f"no {words.many(unit)} were measured", unit)
    return min(
        verdicts,
        key=lambda one: (_SEVERITY.index(one.kind), -(one.growth_bytes_per_unit or 0)),
    )


def judge_case(case: Case) -> Verdict:
    """The verdict on one unit at one place."""
    if _has_too_few(case):
        return _too_few(case)
    heard = ask_collections(case)
    if heard.says is Says.BOTH and heard.live is not None:
        return _live_leak(case, heard, heard.live)
    seen = _judge_marks(case)
    if heard.says is Says.GARBAGE and _is_sawtooth(seen, heard):
        return _garbage(case, heard)
    if seen.kind is Kind.LEAK and heard.says is Says.UNSURE:
        return _partly_garbage(case, heard)
    if seen.kind is Kind.LEAK and case.is_resident:
        return _foreign_allocator(case)
    return seen


def _has_too_few(case: Case) -> bool:
    if case.unit.name == CLOCK_UNIT and len(case.samples) < _FEWEST_CLOCK_SAMPLES:
        return True
    return len(case.marks) < _FEWEST_MARKS


def _judge_marks(case: Case) -> Verdict:
    """What the marks alone say, as if the collector had not been asked."""
    steady = Series(case.steady.x, despiked(case.steady.y))
    lows = sawtooth_lows(steady.y)
    if len(lows) >= 2:
        return _sawtooth(case, Series(steady.x[list(lows)], steady.y[list(lows)]))
    jumps = find_jumps(steady.x, steady.y)
    form = read_shape(Series(steady.x, without_jumps(steady.y, jumps)))
    if form.shape in (Shape.LINE, Shape.LATE) and rises(form.present):
        return _rising(case, form, jumps)
    if form.shape is Shape.LATE or form.shape is Shape.SLOWING or form.shape is Shape.FELL:
        return _unfinished(case, form)
    return _settled(case, form, jumps)


def _rising(case: Case, form: Form, jumps: Jumps) -> Verdict:
    growth = trend(form.present.x, form.present.y)
    if not is_material(growth, form.present.span):
        return _settled(case, form, jumps)
    if form.shape is Shape.LATE and _late_rounds_missing(case, form) > 0:
        return _unfinished(case, form)
    if not is_enough(form.present, growth, case.rounds):
        return _needs(case, growth, ENOUGH_ROUNDS - case.rounds)
    pool = _resident_growth(case) if jumps.total > _JUMP_SHARE * np.ptp(case.steady.y) else None
    return _leak(case, form, pool or growth)


def _late_rounds_missing(case: Case, form: Form) -> int:
    enough = max(_LATE_ROUNDS, math.ceil(_LATE_SHARE * case.steady.span))
    return enough - round(form.present.span)


def _resident_growth(case: Case) -> Trend | None:
    """The trend of resident bytes that malloc does not hold free, if they rise in a line.

    A pool takes its memory in ever larger regions, long before it is used: bytes in use then
    rise by rare jumps. What the program touched of them is resident, and rises evenly.
    """
    anon, free = case.gauge(gauges.RSS_ANON), case.gauge(gauges.HEAP_FREE)
    if len(anon) != len(free) or len(anon) < _FEWEST_MARKS:
        return None
    touched = Series(anon.x, anon.y - free.y)
    growth = trend(touched.x, touched.y)
    is_line = read_shape(touched).shape is Shape.LINE and is_material(growth, touched.span)
    return growth if is_line else None


def _settled(case: Case, form: Form, jumps: Jumps) -> Verdict:
    growth = trend(case.steady.x, case.steady.y)
    if len(jumps.after) >= _RECURRING_JUMPS:
        return _recurring(case, form, jumps, growth)
    if _jumped_lately(case, form, jumps):
        return _needs(case, growth, _ROUNDS_AFTER_A_JUMP, "it jumped in one of the last rounds")
    is_short = case.rounds < ENOUGH_ROUNDS
    if is_short and growth.high >= MATERIAL_IN_FEW_ROUNDS and form.shape is Shape.FLAT:
        return _needs(case, growth, ENOUGH_ROUNDS - case.rounds)
    account = explain(case)
    return _verdict(case, account.kind, account.because, growth)


def _jumped_lately(case: Case, form: Form, jumps: Jumps) -> bool:
    count = len(case.steady)
    late = [e for i, e in zip(jumps.after, jumps.excess, strict=True) if count - i - 1 < 3]
    if form.shape is Shape.STEP and len(form.present) < _ROUNDS_AFTER_A_JUMP:
        late.append(float(form.present.y[-1] - case.steady.y[0]))
    return any(is_noticeable(jump, float(case.steady.y[-1])) for jump in late)


def _recurring(case: Case, form: Form, jumps: Jumps, growth: Trend) -> Verdict:
    """Level between jumps that keep coming: a leak only if what is resident rises evenly."""
    resident = _resident_growth(case)
    quiet = case.steady.x[-1] - case.steady.x[jumps.after[-1]]
    gaps = np.diff(case.steady.x[list(jumps.after)])
    if quiet > 2 * gaps.max() or not is_material(growth, case.steady.span):
        account = explain(case)
        return _verdict(case, account.kind, account.because, growth)
    if resident is not None and case.rounds >= ENOUGH_ROUNDS:
        return _leak(case, form, resident)
    return _needs(case, growth, math.ceil(gaps.max()), "it rises by jumps that keep coming")


def _sawtooth(case: Case, lows: Series) -> Verdict:
    growth = trend(lows.x, lows.y)
    fall = float(np.ptp(case.steady.y))
    if np.ptp(lows.y) <= _SAME_LEVEL * fall or not is_material(growth, lows.span):
        because = (
            f"{_subject(case)} rises and falls back {len(lows)} times to about "
            f"{format_bytes(float(np.median(lows.y)))}: it is freed in batches"
        )
        return _verdict(case, Kind.SAWTOOTH, because, growth)
    if len(lows) >= _LOWS_FOR_A_LINE and (np.diff(lows.y) > 0).all():
        because = (
            f"{_subject(case)} falls back now and then, but even its lowest points rise, "
            f"by {format_bytes(growth.slope)} per {words.one(case.unit)} ({words.between(growth)})"
        )
        return _verdict(case, Kind.LEAK, because, growth)
    return _needs(case, growth, case.rounds, "it falls back now and then, and not to one level")


def _is_sawtooth(seen: Verdict, heard: Testimony) -> bool:
    if seen.kind in (Kind.LEAK, Kind.INCONCLUSIVE, Kind.CACHE, Kind.SAWTOOTH):
        return True
    return seen.kind in (Kind.FLAT, Kind.WARM_UP) and heard.freed_bytes >= _FREED_WORTH_A_WORD


def _garbage(case: Case, heard: Testimony) -> Verdict:
    because = (
        f"{_subject(case)} waits for the garbage collector: a collection gave back "
        f"{format_bytes(heard.freed_bytes)}, and what is left does not grow"
    )
    return _verdict(case, Kind.SAWTOOTH, because, heard.live)


def _partly_garbage(case: Case, heard: Testimony) -> Verdict:
    growth = heard.live or trend(case.steady.x, case.steady.y)
    why = f"a collection gave back {format_bytes(heard.freed_bytes)} of the rise, not all of it"
    return _needs(case, growth, _MORE_ROUNDS, why)


def _live_leak(case: Case, heard: Testimony, live: Trend) -> Verdict:
    is_short = case.rounds < ENOUGH_ROUNDS
    if is_short and (case.rounds < FEWEST_ROUNDS or live.slope < MATERIAL_IN_FEW_ROUNDS):
        return _needs(case, live, ENOUGH_ROUNDS - case.rounds)
    because = (
        f"{_subject(case)} rose by {format_bytes(live.slope)} per {words.one(case.unit)} "
        f"({words.between(live)}) after each of {heard.count} garbage collections, "
        f"which gave back {format_bytes(heard.freed_bytes)} each"
    )
    return _verdict(case, Kind.LEAK, because, live)


def _foreign_allocator(case: Case) -> Verdict:
    growth = trend(case.steady.x, case.steady.y)
    because = (
        f"resident memory rose by {format_bytes(growth.slope)} per {words.one(case.unit)}, but "
        f"the bytes in use cannot be read from this malloc, so it may keep free memory: "
        f"run without the preloaded allocator"
    )
    return _verdict(case, Kind.INCONCLUSIVE, because, growth)


def _unfinished(case: Case, form: Form) -> Verdict:
    """A rise that began late, slows down or fell back: not a leak yet, and not over."""
    growth = trend(form.present.x, form.present.y)
    if not is_material(growth, form.present.span):
        return _settled(case, form, Jumps((), ()))
    if form.shape is Shape.LATE:
        began = f"it began to rise only at {words.one(case.unit)} {form.present.x[0]:.0f}"
        return _needs(case, growth, _late_rounds_missing(case, form), began)
    why = "its growth slows down" if form.shape is Shape.SLOWING else "it fell back once"
    return _needs(case, growth, max(_LATE_ROUNDS, math.ceil(_LATE_SHARE * case.rounds)), why)


def _leak(case: Case, form: Form, growth: Trend) -> Verdict:
    return _verdict(case, Kind.LEAK, _leak_because(case, form, growth), growth)


def _leak_because(case: Case, form: Form, growth: Trend) -> str:
    rounds, per = case.steady, format_bytes(growth.slope)
    rose = int((np.diff(case.marks.y)[case.warmup - 1 :] > 0).sum())
    if form.shape is Shape.LATE:
        since = f"{form.present.x[0]:.0f}"
        when = f"has risen since {words.one(case.unit)} {since}, by {per} each"
    elif rose >= 0.8 * len(rounds):
        when = (
            f"rose in {rose} of {len(rounds)} {words.many(case.unit)} after warm-up, by {per} each"
        )
    else:
        when = (
            f"rose by {per} per {words.one(case.unit)} over {len(rounds)} {words.many(case.unit)}"
        )
    return f"{_subject(case)} {when} ({words.between(growth)})"


def _needs(case: Case, growth: Trend, more: int, why: str = "") -> Verdict:
    """Not enough to tell: how many more rounds would do."""
    more = max(more, 1, rounds_to_certainty(case.steady, growth.slope))
    seen = words.counted(case.rounds, case.unit)
    because = (
        f"{_subject(case)} cannot be judged after {seen}{': ' + why if why else ''}; "
        f"{more} more would tell"
    )
    return _verdict(case, Kind.INCONCLUSIVE, because, growth, more)


def _too_few(case: Case) -> Verdict:
    fewest = _FEWEST_CLOCK_SAMPLES if case.unit.name == CLOCK_UNIT else FEWEST_ROUNDS
    more = max(1, fewest - case.rounds)
    because = (
        f"{words.counted(case.rounds, case.unit)} are too few to tell growth from warm-up; "
        f"{more} more would tell"
    )
    return _verdict(case, Kind.INCONCLUSIVE, because, None, more)


def _subject(case: Case) -> str:
    return words.memory_of(case.place, is_resident=case.is_resident)


def _verdict(
    case: Case, kind: Kind, because: str, growth: Trend | None, more: int | None = None
) -> Verdict:
    known = growth is not None and math.isfinite(growth.low) and math.isfinite(growth.high)
    return Verdict(
        kind,
        because,
        case.unit,
        case.rounds,
        round(growth.slope) if growth is not None and known else None,
        (round(growth.low), round(growth.high)) if growth is not None and known else None,
        more,
        case.place,
    )
