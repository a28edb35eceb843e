"""From the low-water marks of one unit at one place to a verdict."""

import math

import numpy as np

from lowwater import gauges
from lowwater.model import Kind, Verdict
from lowwater.verdict import told, words
from lowwater.verdict.garbage import Says, Testimony, ask_collections
from lowwater.verdict.growth import (
    ENOUGH_ROUNDS,
    FEWEST_ROUNDS,
    MATERIAL_IN_FEW_ROUNDS,
    is_enough,
    is_material,
)
from lowwater.verdict.jumps import Jumps, despiked, find_jumps, sawtooth_lows, without_jumps
from lowwater.verdict.kept import is_noticeable
from lowwater.verdict.series import CLOCK_UNIT, FEWEST_CLOCK_SAMPLES, Case, Series
from lowwater.verdict.shape import Form, Shape, read_shape, rises
from lowwater.verdict.trend import Trend, trend

_FEWEST_MARKS = 5
# A ramp that began late must last this long before it is more than a last phase of the program.
_LATE_ROUNDS = 6
_LATE_SHARE = 1 / 3
# So many rounds after a jump show that it was a single one.
_ROUNDS_AFTER_A_JUMP = 3
_RECURRING_JUMPS = 3
# Jumps that make up this share of the rise are a pool that grows: its resident part tells how.
_POOL_SHARE = 0.25
# Bytes in use scatter this much more than resident bytes where a pool takes memory ahead.
_SCATTERS = 3.0
# Lows that vary by less than this share of the range are one level.
_SAME_LEVEL = 0.35
_LOWS_FOR_A_LINE = 4
_FREED_WORTH_A_WORD = 4 << 20
_MORE_ROUNDS = 4
_NO_JUMPS = Jumps((), ())


def judge_case(case: Case) -> Verdict:
    """The verdict on one unit at one place."""
    is_by_clock = case.unit.name == CLOCK_UNIT
    if len(case.marks) < (_FEWEST_MARKS) or (
        is_by_clock and len(case.samples) < FEWEST_CLOCK_SAMPLES
    ):
        return told.too_few(case)
    seen = _weigh(case, ask_collections(case))
    growth = trend(case.steady.x, case.steady.y)
    if seen.kind is Kind.LEAK and case.is_resident:
        return told.foreign_allocator(case, growth)
    if seen.kind is Kind.LEAK and is_by_clock and np.ptp(case.steady.y) > case.steady.y[0]:
        return told.only_by_clock(case, growth)
    return seen


def _weigh(case: Case, heard: Testimony) -> Verdict:
    """What the marks say, in the light of what the collections said."""
    if heard.says is Says.BOTH and heard.live is not None:
        return _live_leak(case, heard.live, heard.freed_bytes)
    seen = _judge_marks(case)
    if heard.says is Says.GARBAGE and _is_garbage(seen, heard):
        return told.waits_for_collector(case, heard.live, heard.freed_bytes)
    if heard.says is Says.UNSURE and seen.kind is Kind.LEAK:
        growth = heard.live or trend(case.steady.x, case.steady.y)
        return told.needs_more(case, growth, _MORE_ROUNDS, "part of the rise was garbage")
    return seen


def _live_leak(case: Case, live: Trend, freed_bytes: int) -> Verdict:
    is_short = case.rounds < ENOUGH_ROUNDS
    if is_short and (case.rounds < FEWEST_ROUNDS or live.slope < MATERIAL_IN_FEW_ROUNDS):
        return told.needs_more(case, live, ENOUGH_ROUNDS - case.rounds)
    return told.leak_under_garbage(case, live, freed_bytes)


def _is_garbage(seen: Verdict, heard: Testimony) -> bool:
    if seen.kind in (Kind.LEAK, Kind.INCONCLUSIVE, Kind.CACHE, Kind.SAWTOOTH):
        return True
    return seen.kind in (Kind.FLAT, Kind.WARM_UP) and heard.freed_bytes >= _FREED_WORTH_A_WORD


def _judge_marks(case: Case) -> Verdict:
    """What the marks alone say, as if the collector had not been asked."""
    steady = Series(case.steady.x, despiked(case.steady.y))
    lows = list(sawtooth_lows(steady.y))
    if len(lows) >= 2:
        return _sawtooth(case, Series(steady.x[lows], steady.y[lows]))
    jumps = find_jumps(steady.x, steady.y)
    form = read_shape(Series(steady.x, without_jumps(steady.y, jumps)))
    if form.shape in (Shape.LINE, Shape.LATE) and rises(form.present):
        return _rising(case, form, jumps)
    if form.shape in (Shape.LATE, Shape.SLOWING, Shape.FELL):
        return _unfinished(case, form)
    return _settled(case, form, jumps)


def _sawtooth(case: Case, lows: Series) -> Verdict:
    growth = trend(lows.x, lows.y)
    is_level = np.ptp(lows.y) <= _SAME_LEVEL * np.ptp(case.steady.y)
    if is_level or not is_material(growth, lows.span):
        return told.sawtooth(case, lows)
    if len(lows) >= _LOWS_FOR_A_LINE and (np.diff(lows.y) > 0).all():
        return told.leak_under_sawtooth(case, growth)
    return told.needs_more(case, growth, case.rounds, "it falls back, but not to one level")


def _rising(case: Case, form: Form, jumps: Jumps) -> Verdict:
    present = form.present
    growth = trend(present.x, present.y)
    if not is_material(growth, present.span):
        return _settled(case, form, jumps)
    if form.shape is Shape.LATE and _late_rounds_missing(case, form) > 0:
        return _unfinished(case, form)
    if not is_enough(present, growth, case.rounds):
        return told.needs_more(case, growth, ENOUGH_ROUNDS - case.rounds)
    if form.shape is Shape.LATE:
        return told.leak(case, growth, present.x[0])
    return told.leak(case, _better_estimate(case, growth, jumps))


def _late_rounds_missing(case: Case, form: Form) -> int:
    enough = max(_LATE_ROUNDS, math.ceil(_LATE_SHARE * case.steady.span))
    return enough - round(form.present.span)


def _better_estimate(case: Case, growth: Trend, jumps: Jumps) -> Trend:
    """The growth of resident bytes, where a pool hides it from the bytes in use."""
    resident = _resident_growth(case)
    if resident is None:
        return growth
    by_jumps = jumps.total > _POOL_SHARE * float(np.ptp(case.steady.y))
    scatters = growth.high - growth.low > _SCATTERS * (resident.high - resident.low)
    return resident if by_jumps or (scatters and resident.low > 0) else growth


def _resident_growth(case: Case) -> Trend | None:
    """The trend of resident bytes that malloc does not hold free, if they rise in a line.

    A pool takes its memory in ever larger regions, long before it is used: bytes in use then
    rise by rare jumps. What the program touched of them is resident, and rises evenly.
    """
    anon, free = case.gauge(gauges.RSS_ANON), case.gauge(gauges.HEAP_FREE)
    if case.place != gauges.HOST or len(anon) != len(free) or len(anon) < _FEWEST_MARKS:
        return None
    touched = Series(anon.x, anon.y - free.y)
    growth = trend(touched.x, touched.y)
    is_line = read_shape(touched).shape is Shape.LINE and is_material(growth, touched.span)
    return growth if is_line else None


def _unfinished(case: Case, form: Form) -> Verdict:
    """A rise that began late, slows down or fell back: not a leak yet, and not over."""
    growth = trend(form.present.x, form.present.y)
    if not is_material(growth, form.present.span):
        return _settled(case, form, _NO_JUMPS)
    if form.shape is Shape.LATE:
        why = f"it began to rise only at {words.one(case.unit)} {form.present.x[0]:.0f}"
        return told.needs_more(case, growth, _late_rounds_missing(case, form), why)
    why = "its growth slows down" if form.shape is Shape.SLOWING else "it fell back once"
    more = max(_LATE_ROUNDS, math.ceil(_LATE_SHARE * case.rounds))
    return told.needs_more(case, growth, more, why)


def _settled(case: Case, form: Form, jumps: Jumps) -> Verdict:
    growth = trend(case.steady.x, case.steady.y)
    if len(jumps.after) >= _RECURRING_JUMPS:
        return _recurring(case, jumps, growth)
    if _jumped_lately(case, form, jumps):
        why = "it jumped in one of the last rounds"
        return told.needs_more(case, growth, _ROUNDS_AFTER_A_JUMP, why)
    is_short = case.rounds < ENOUGH_ROUNDS and form.shape is Shape.FLAT
    if is_short and growth.high >= MATERIAL_IN_FEW_ROUNDS:
        return told.needs_more(case, growth, ENOUGH_ROUNDS - case.rounds)
    return told.settled(case)


def _jumped_lately(case: Case, form: Form, jumps: Jumps) -> bool:
    first_late = len(case.steady) - 1 - _ROUNDS_AFTER_A_JUMP
    found = zip(jumps.after, jumps.excess, strict=True)
    late = [excess for index, excess in found if index > first_late]
    if form.shape is Shape.STEP and len(form.present) < _ROUNDS_AFTER_A_JUMP:
        late.append(float(form.present.y[-1] - case.steady.y[0]))
    return any(is_noticeable(jump, float(case.steady.y[-1])) for jump in late)


def _recurring(case: Case, jumps: Jumps, growth: Trend) -> Verdict:
    """Level between jumps that keep coming: a leak only if what is resident rises evenly."""
    rounds = case.steady.x[list(jumps.after)]
    longest = float(np.diff(rounds).max())
    is_over = case.steady.x[-1] - rounds[-1] > 2 * longest
    if is_over or not is_material(growth, case.steady.span):
        return told.settled(case)
    resident = _resident_growth(case)
    if resident is not None and case.rounds >= ENOUGH_ROUNDS:
        return told.leak(case, resident)
    why = "it rises by jumps that keep coming"
    return told.needs_more(case, growth, math.ceil(longest), why)
