"""From the low-water marks of one unit at one place to a verdict."""

import math
from dataclasses import replace

import numpy as np

from lowwater import gauges
from lowwater.model import Kind, Verdict
from lowwater.verdict import told, words
from lowwater.verdict.case import CLOCK_UNIT, FEWEST_CLOCK_SAMPLES, Case
from lowwater.verdict.garbage import Says, Testimony, ask_collections, without_garbage
from lowwater.verdict.growth import (
    ENOUGH_ROUNDS,
    FEWEST_ROUNDS,
    MATERIAL_IN_FEW_ROUNDS,
    is_enough,
    is_material,
    is_worth_a_word,
)
from lowwater.verdict.jumps import Jumps, despiked, find_jumps, sawtooth_lows, without_jumps
from lowwater.verdict.kept import is_noticeable
from lowwater.verdict.series import Floats, Series
from lowwater.verdict.shape import Form, Shape, read_shape, rises
from lowwater.verdict.trend import Trend, mann_kendall, trend

_FEWEST_MARKS = 5
# A ramp that began late must last this long before it is more than a last phase of the program.
_LATE_ROUNDS = 6
_LATE_SHARE = 1 / 3
# So many rounds after a jump show that it was a single one.
_ROUNDS_AFTER_A_JUMP = 3
_MARKS_AFTER_A_RAMP = 4
_RECURRING_JUMPS = 3
_PERIODIC_JUMPS = 4
_ALIKE = 2.0
# Jumps that make up this share of the rise are a pool that grows: its resident part tells how.
_POOL_SHARE = 0.25
# A rise that is likely calls for more rounds, or for a second witness.
_LIKELY = 0.05
# Bytes in use scatter this much more than resident bytes where a pool takes memory ahead.
_SCATTERS = 3.0
_FALLS_OF_A_SAWTOOTH = 2
_FALLS_ON_A_SLOPE = 3
# Lows that vary by less than this share of the range are one level.
_SAME_LEVEL = 0.35
_LOWS_FOR_A_LINE = 4
# A run that is flat anyway: so much garbage in all is worth telling (200 `predict` calls).
_FREED_WORTH_A_WORD = 3 << 20
_MORE_ROUNDS = 4
_MARKS_FOR_A_RATE = 2
_NO_JUMPS = Jumps((), ())


def judge_case(case: Case) -> Verdict:
    """The verdict on one unit at one place."""
    is_by_clock = case.unit.name == CLOCK_UNIT
    fewest = FEWEST_CLOCK_SAMPLES if is_by_clock else _FEWEST_MARKS
    if len(case.samples) < fewest or len(case.marks) < _FEWEST_MARKS:
        return told.too_few(case)
    heard = ask_collections(case)
    if heard.says is Says.LIVE:
        case = replace(case, marks=without_garbage(case))
    seen = _weigh(case, heard)
    growth = trend(case.steady)
    if seen.kind is Kind.LEAK and case.is_resident:
        return told.foreign_allocator(case, growth)
    if seen.kind is Kind.LEAK and is_by_clock and np.ptp(case.steady.y) > case.steady.y[0]:
        return told.only_by_clock(case, growth)
    return seen


def _weigh(case: Case, heard: Testimony) -> Verdict:
    """What the marks say, in the light of what the collections said."""
    if heard.says is Says.BOTH and heard.live is not None:
        return _live_leak(case, heard.live, heard.freed_bytes)
    seen = _judge_marks(case, heard)
    if heard.says is Says.GARBAGE and _is_garbage(seen, heard):
        return told.waits_for_collector(case, heard.live, heard.freed_bytes)
    if heard.says is Says.UNSURE and seen.kind in (Kind.LEAK, Kind.SAWTOOTH, Kind.INCONCLUSIVE):
        growth = heard.live or trend(case.steady)
        more = max(_MORE_ROUNDS, case.rounds // 4)
        return told.needs_more(case, growth, more, "part of the rise was garbage")
    return seen


def _live_leak(case: Case, live: Trend, freed_bytes: int) -> Verdict:
    is_short = case.rounds < ENOUGH_ROUNDS
    if is_short and (case.rounds < FEWEST_ROUNDS or live.slope < MATERIAL_IN_FEW_ROUNDS):
        return told.needs_more(case, live, ENOUGH_ROUNDS - case.rounds)
    return told.leak_under_garbage(case, live, freed_bytes)


def _is_garbage(seen: Verdict, heard: Testimony) -> bool:
    if seen.kind in (Kind.LEAK, Kind.INCONCLUSIVE, Kind.CACHE, Kind.SAWTOOTH):
        return True
    return seen.kind in (Kind.FLAT, Kind.WARM_UP) and heard.total_freed_bytes >= _FREED_WORTH_A_WORD


def _judge_marks(case: Case, heard: Testimony) -> Verdict:
    """What the marks say by their shape."""
    lows = _teeth(case.steady)
    if len(lows):
        return _sawtooth(case, lows, heard)
    steady = despiked(case.steady)
    jumps = find_jumps(steady)
    form = read_shape(without_jumps(steady, jumps))
    if form.shape in (Shape.LINE, Shape.LATE) and rises(form.present):
        return _rising(case, form, jumps)
    if form.shape in (Shape.LATE, Shape.SLOWING, Shape.FELL):
        return _unfinished(case, form)
    return _settled(case, form, jumps)


def _teeth(steady: Series) -> Series:
    """The low points of a sawtooth, be it level or on a slope."""
    teeth = sawtooth_lows(steady)
    if len(teeth) >= _FALLS_OF_A_SAWTOOTH:
        return teeth
    level = Series(steady.x, steady.y - trend(steady).slope * steady.x)
    lows = np.isin(steady.x, sawtooth_lows(level).x)
    # Noise around a line may look like it, but not again and again, nor fall each time.
    fell = lows[1:] & (np.diff(steady.y) < 0)
    is_sawtooth = fell.sum() == lows.sum() >= _FALLS_ON_A_SLOPE
    return Series(steady.x[lows], steady.y[lows]) if is_sawtooth else steady.skip(len(steady))


def _sawtooth(case: Case, lows: Series, heard: Testimony) -> Verdict:
    growth = trend(lows)
    is_level = np.ptp(lows.y) <= _SAME_LEVEL * np.ptp(case.steady.y)
    if is_level or not is_material(growth, lows.span):
        return told.sawtooth(case, lows)
    # The collector's small runs leave old garbage: rising lows alone do not prove live bytes.
    is_live = heard.says is Says.LIVE and len(lows) >= _LOWS_FOR_A_LINE
    if is_live and (np.diff(lows.y) > 0).all():
        return told.leak_under_sawtooth(case, growth)
    why = "it falls back now and then, but not to one level"
    return told.needs_more(case, growth, case.rounds, why)


def _rising(case: Case, form: Form, jumps: Jumps) -> Verdict:
    present = form.present
    growth = trend(present)
    if not is_material(growth, present.span):
        return _settled(case, form, jumps)
    if form.shape is Shape.LATE and _late_rounds_missing(case, form) > 0:
        return _unfinished(case, form)
    if not is_enough(present, growth, case.rounds):
        return told.needs_more(case, growth, _rounds_missing(case, growth))
    if form.shape is Shape.LATE:
        return told.leak(case, growth, present.x[0])
    return told.leak(case, _better_estimate(case, growth, jumps))


def _late_rounds_missing(case: Case, form: Form) -> int:
    enough = max(_LATE_ROUNDS, math.ceil(_LATE_SHARE * case.steady.span))
    return enough - round(form.present.span)


def _better_estimate(case: Case, growth: Trend, jumps: Jumps) -> Trend:
    """What the collections left behind, in a short run; resident bytes, where a pool hides it."""
    if case.rounds < ENOUGH_ROUNDS and len(case.collected.x) >= _MARKS_FOR_A_RATE:
        rate = trend(case.collected.marks).slope
        # Old garbage that the first collection took bends the few marks; it is not in these.
        return replace(growth, slope=rate, low=min(growth.low, rate), high=max(growth.high, rate))
    resident = _resident_growth(case)
    if resident is None:
        return growth
    by_jumps = jumps.total > _POOL_SHARE * float(np.ptp(case.steady.y))
    scatters = growth.high - growth.low > _SCATTERS * (resident.high - resident.low)
    return resident if by_jumps or scatters else growth


def _resident_growth(case: Case) -> Trend | None:
    """The trend of resident bytes that malloc does not hold free, if they rise evenly.

    A pool takes its memory in ever larger regions, long before it is used: bytes in use then
    rise by rare jumps. What the program touched of them is resident, and rises evenly.
    """
    anon, free = case.gauge(gauges.RSS_ANON), case.gauge(gauges.HEAP_FREE)
    if case.place != gauges.HOST or len(anon) != len(free) or len(anon) < _FEWEST_MARKS:
        return None
    touched = Series(anon.x, anon.y - free.y)
    growth = trend(touched)
    # Jumps of its own would make the interval too wide to be material.
    is_even = read_shape(touched).shape is Shape.LINE and is_material(growth, touched.span)
    return growth if is_even else None


def _unfinished(case: Case, form: Form) -> Verdict:
    """A rise that began late, slows down or fell back: not a leak yet, and not over."""
    recent = form.present if len(form.present) >= _ROUNDS_AFTER_A_JUMP else case.steady
    growth = trend(recent)
    if not is_material(growth, recent.span):
        return _settled(case, form, _NO_JUMPS)
    if form.shape is Shape.LATE:
        why = f"it began to rise only at {words.one(case.unit)} {form.present.x[0]:.0f}"
        return told.needs_more(case, growth, _late_rounds_missing(case, form), why)
    why = "its growth slows down" if form.shape is Shape.SLOWING else "it fell back once"
    more = max(_LATE_ROUNDS, math.ceil(_LATE_SHARE * case.rounds))
    return told.needs_more(case, growth, more, why)


def _settled(case: Case, form: Form, jumps: Jumps) -> Verdict:
    growth = trend(case.steady)
    if pool := _pool_growth(case, form, jumps):
        return told.leak(case, pool)
    if len(jumps.after) >= _RECURRING_JUMPS:
        return _recurring(case, jumps, growth)
    if _jumped_lately(case, form, jumps):
        why = "it jumped in one of the last rounds"
        return told.needs_more(case, growth, _ROUNDS_AFTER_A_JUMP, why)
    if _may_rise(case, form, growth):
        return told.needs_more(case, growth, _rounds_missing(case, growth))
    return told.settled(case)


def _may_rise(case: Case, form: Form, growth: Trend) -> bool:
    """Whether a rise that would matter is neither certain nor excluded."""
    is_short = case.rounds < ENOUGH_ROUNDS
    if form.shape in (Shape.STOPPED, Shape.STEP):
        could = is_short and len(form.present) < _MARKS_AFTER_A_RAMP
        return could and growth.high >= MATERIAL_IN_FEW_ROUNDS
    present = trend(form.present)
    is_likely = present.p_rising <= _LIKELY and is_worth_a_word(present.slope, form.present.span)
    return is_likely or (is_short and present.high >= MATERIAL_IN_FEW_ROUNDS)


def _rounds_missing(case: Case, growth: Trend) -> int:
    is_large = growth.low >= MATERIAL_IN_FEW_ROUNDS and case.rounds < FEWEST_ROUNDS
    enough = FEWEST_ROUNDS if is_large else ENOUGH_ROUNDS
    return enough - case.rounds if case.rounds < enough else _MORE_ROUNDS


def _pool_growth(case: Case, form: Form, jumps: Jumps) -> Trend | None:
    """The even growth of what is resident, where bytes in use rise by jumps and in between."""
    if not jumps.after or case.rounds < ENOUGH_ROUNDS:
        return None
    keeps_coming = len(jumps.after) >= _RECURRING_JUMPS
    rises_between = mann_kendall(form.present) <= _LIKELY
    return _resident_growth(case) if keeps_coming or rises_between else None


def _jumped_lately(case: Case, form: Form, jumps: Jumps) -> bool:
    rounds_after = [len(case.steady) - 1 - index for index in jumps.after]
    found = zip(rounds_after, jumps.excess, strict=True)
    # The very last mark alone may be a spike, which is nothing.
    late = [excess for after, excess in found if 1 < after <= _ROUNDS_AFTER_A_JUMP]
    if form.shape is Shape.STEP and len(form.present) < _ROUNDS_AFTER_A_JUMP:
        late.append(float(form.present.y[-1] - case.steady.y[0]))
    return any(is_noticeable(jump, float(case.steady.y[-1])) for jump in late)


def _recurring(case: Case, jumps: Jumps, growth: Trend) -> Verdict:
    """Level between jumps that keep coming, and no growing pool: perhaps a leak now and then."""
    rounds = case.steady.x[list(jumps.after)]
    longest = float(np.diff(rounds).max())
    is_over = case.steady.x[-1] - rounds[-1] > 2 * longest
    if is_over or not is_material(growth, case.steady.span):
        return told.settled(case)
    if _is_periodic(rounds, jumps) and case.rounds >= ENOUGH_ROUNDS:
        return told.leak(case, growth)
    why = "it rises by jumps that keep coming"
    return told.needs_more(case, growth, math.ceil(longest), why)


def _is_periodic(rounds: Floats, jumps: Jumps) -> bool:
    """Whether like jumps come at like distances; a pool's are ever larger and rarer."""
    gaps, sizes = np.diff(rounds), np.array(jumps.excess)
    return bool(
        len(sizes) >= _PERIODIC_JUMPS
        and gaps.max() <= _ALIKE * gaps.min()
        and sizes.max() <= _ALIKE * sizes.min()
    )
