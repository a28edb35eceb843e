"""From the low-water marks of one unit at one place to a verdict."""

import math
from dataclasses import replace

import numpy as np

from lowwater.model import Kind, Verdict
from lowwater.model.policy import POLICY
from lowwater.verdict import reasons, words
from lowwater.verdict.account import Account, account_of, off_line
from lowwater.verdict.case import CLOCK_UNIT, Case
from lowwater.verdict.garbage import Says, Testimony, ask_collections, without_garbage
from lowwater.verdict.growth import is_large, is_regular, is_slow, matters
from lowwater.verdict.kept import is_noticeable
from lowwater.verdict.segments import has_clearly_stopped
from lowwater.verdict.slowing import has_slowed, slows_down
from lowwater.verdict.trend import Trend, trend

_DOUBT = tuple[str, int]


def judge_case(case: Case) -> Verdict:
    """The verdict on one unit at one place."""
    is_by_clock = case.unit.name == CLOCK_UNIT
    fewest = POLICY.clock_stretches if is_by_clock else POLICY.fewest_marks
    if len(case.samples) < fewest or len(case.marks) < POLICY.fewest_marks:
        return reasons.too_few(case)
    heard = ask_collections(case)
    if heard.says is Says.LIVE:
        case = replace(case, marks=without_garbage(case))
    seen = _weigh(case, heard)
    growth = trend(case.steady)
    if seen.kind is Kind.LEAK and case.is_resident:
        return reasons.foreign_allocator(case, growth)
    if seen.kind is Kind.LEAK and is_by_clock and np.ptp(case.steady.y) > case.steady.y[0]:
        return reasons.only_by_clock(case, growth)
    return seen


def _weigh(case: Case, heard: Testimony) -> Verdict:
    """What the marks say, in the light of what the collections said."""
    if heard.says is Says.BOTH and heard.live is not None:
        return _live_leak(case, heard.live, heard.freed_bytes)
    seen = _judge_marks(case, heard)
    if heard.says is Says.GARBAGE and _is_garbage(seen, heard):
        return reasons.waits_for_collector(case, heard.live, heard.freed_bytes)
    if heard.says is Says.UNSURE and seen.kind in (Kind.LEAK, Kind.SAWTOOTH, Kind.INCONCLUSIVE):
        growth = heard.live or trend(case.steady)
        more = max(POLICY.settled_marks, math.ceil(POLICY.late_share * case.rounds))
        return reasons.needs_more(case, growth, more, "part of the rise was garbage")
    return seen


def _live_leak(case: Case, live: Trend, freed_bytes: int) -> Verdict:
    is_short = case.rounds < POLICY.enough_rounds
    is_proven = len(case.collected.x) >= POLICY.marks_of_a_piece and is_large(live)
    if is_short and (case.rounds < POLICY.fewest_rounds or not is_proven):
        return reasons.needs_more(case, live, POLICY.enough_rounds - case.rounds)
    return reasons.leak_under_garbage(case, live, freed_bytes)


def _is_garbage(seen: Verdict, heard: Testimony) -> bool:
    if seen.kind in (Kind.LEAK, Kind.INCONCLUSIVE, Kind.CACHE, Kind.SAWTOOTH, Kind.TRICKLE):
        return True
    # A run that is flat anyway: much garbage is worth telling (200 `predict` calls).
    is_much = heard.total_freed_bytes >= POLICY.large_rise_bytes
    return seen.kind in (Kind.FLAT, Kind.WARM_UP) and is_much


def _judge_marks(case: Case, heard: Testimony) -> Verdict:
    """What the marks say by their account."""
    account = account_of(case.steady)
    if account.fell and not account.only_swings:
        return _sawtooth(case, account, heard)
    if account.is_rising and matters(account.growth, account.present.span):
        return _settled(case, account) if _dies_away(account) else _rising(case, account)
    return _settled(case, account)


def _sawtooth(case: Case, account: Account, heard: Testimony) -> Verdict:
    """Memory came back, and rose again."""
    if account.lows_are_level:
        return reasons.sawtooth(case, account.lows)
    # The collector's small runs leave old garbage: rising lows alone do not prove live bytes.
    growth = trend(account.lows)
    if account.lows_rise and heard.says is Says.LIVE and matters(growth, account.lows.span):
        return reasons.leak_under_sawtooth(case, growth)
    several = "it falls back now and then, but not to the same level"
    why = several if len(account.lows) > 1 else "it fell back once"
    return reasons.needs_more(case, account.growth, case.rounds, why)


def _rising(case: Case, account: Account) -> Verdict:
    doubt = _doubt(case, account)
    if doubt is not None:
        why, more = doubt
        return reasons.needs_more(case, account.growth, more, why)
    is_late = account.rate_before is not None and account.begins > case.steady.x[0]
    growth = _by_collections(case, account.growth)
    return reasons.leak(case, growth, account.begins if is_late else None)


def _by_collections(case: Case, growth: Trend) -> Trend:
    """In a short run, the rate of what the collections left behind: a little garbage bends it."""
    if case.rounds >= POLICY.enough_rounds or len(case.collected.x) <= 1:
        return growth
    rate = trend(case.collected.marks).slope
    return replace(growth, slope=rate, low=min(growth.low, rate), high=max(growth.high, rate))


def _doubt(case: Case, account: Account) -> _DOUBT | None:
    """Why a rise is not a leak for certain, and how many more rounds would tell; None if it is."""
    growth, rounds = account.growth, case.rounds
    if _has_paused(account):
        return "its growth paused", POLICY.marks_of_a_piece
    if slows_down(account):
        return "its growth slows down", max(
            POLICY.fewest_rounds, math.ceil(POLICY.late_share * rounds)
        )
    if (missing := _late_rounds_missing(case, account)) > 0:
        return f"it began to rise only at {words.one(case.unit)} {account.begins:.0f}", missing
    if not _has_enough_rounds(case, account):
        return "", _rounds_missing(case, growth)
    if _is_untested(case, account):
        return "it may be garbage that Python has not collected yet", _rounds_missing(case, growth)
    return None


def _is_untested(case: Case, account: Account) -> bool:
    """Whether no collection was tried since it rises like this, where that is to be expected.

    A small rise, or one of a few rounds, may be garbage; and so may any that began only after
    collections that gave something back.
    """
    tried = case.collected
    if len(tried.x):
        rise = max(float(tried.before.max() - case.marks.y[0]), POLICY.resolution_bytes)
        is_live = float(tried.freed.max()) <= POLICY.freed_little * rise
        return bool(tried.x[-1] <= account.begins) and not is_live
    return is_slow(account.growth) or case.rounds < POLICY.enough_rounds


def _has_paused(account: Account) -> bool:
    """Whether the last marks have hardly risen, and fall behind further than others strayed."""
    marks, rate = account.marks, account.growth.slope
    since = len(marks) - 1 - max(len(account.tail), 1)
    rounds, risen = marks.x[-1] - marks.x[since], marks.y[-1] - marks.y[since]
    has_hardly_risen = bool(risen / rounds < rate / POLICY.alike**2)
    is_even = account.noise <= POLICY.noise_share * account.growth.high
    return has_hardly_risen and (len(account.tail) > 0 or is_even) and _falls_behind(account)


def _falls_behind(account: Account) -> bool:
    """Whether the last mark is further below the line than from its lowest mark to its highest."""
    marks = account.marks
    start, stop = marks.index_of(account.begins), len(marks) - max(len(account.tail), 1)
    _, off = off_line(marks, start, stop)
    strayed = float(np.ptp(off[start:stop])) + POLICY.standard_errors * account.noise
    return bool(-off[-1] > strayed)


def _dies_away(account: Account) -> bool:
    """Whether next to nothing is added any more, beside what was before."""
    added = account.growth.slope * account.present.span
    is_little = added < POLICY.noticeable_share * account.gained
    return is_slow(account.growth) and is_little and slows_down(account)


def _late_rounds_missing(case: Case, account: Account) -> int:
    """A ramp that began late must last before it is more than a last phase of the program."""
    if account.rate_before is None or has_slowed(account):
        return 0
    enough = max(POLICY.fewest_rounds, math.ceil(POLICY.late_share * case.steady.span))
    return enough - round(account.present.span)


def _has_enough_rounds(case: Case, account: Account) -> bool:
    if case.rounds >= POLICY.enough_rounds:
        return True
    is_plain = is_large(account.growth) or is_regular(account.present)
    return case.rounds >= POLICY.fewest_rounds and is_plain


def _rounds_missing(case: Case, growth: Trend) -> int:
    is_early = is_large(growth) and case.rounds < POLICY.fewest_rounds
    enough = POLICY.fewest_rounds if is_early else POLICY.enough_rounds
    return enough - case.rounds if case.rounds < enough else POLICY.settled_marks


def _settled(case: Case, account: Account) -> Verdict:
    growth = account.growth
    if _jumps_keep_coming(case, account):
        why, longest = "it keeps rising in jumps", math.ceil(_longest_gap(account))
        return reasons.needs_more(case, trend(case.steady), longest, why)
    if _jumped_lately(account):
        why = "it jumped in one of the last rounds"
        return reasons.needs_more(case, growth, POLICY.marks_of_a_piece, why)
    if _has_hardly_stopped(account) or _may_rise(case, account):
        return reasons.needs_more(case, growth, _rounds_missing(case, growth))
    return reasons.settled(case, account)


def _has_hardly_stopped(account: Account) -> bool:
    """Whether it rose until lately: a pause is no end."""
    if account.gained < POLICY.resolution_bytes:
        return False
    if _goes_on_more_slowly(account):
        return True
    y = account.marks.y
    level = float(np.median(account.present.y))
    near = max(POLICY.resolution_bytes, POLICY.standard_errors * account.noise)
    arrived = int(np.argmax(y >= level - near))
    return len(y) - arrived < POLICY.settled_marks


def _goes_on_more_slowly(account: Account) -> bool:
    """Whether a few marks do not exclude that it still rises, at a good part of its old rate."""
    before, growth = account.rate_before, account.growth
    is_few = len(account.present) < POLICY.enough_rounds - POLICY.warmup_marks
    if before is None or not is_few:
        return False
    return growth.slope > before / POLICY.alike**3 and growth.high > before / POLICY.alike**2


def _may_rise(case: Case, account: Account) -> bool:
    """Whether a rise that would matter is neither certain nor excluded."""
    growth, span = account.growth, account.present.span
    if account.is_rising:
        # Too little by now, but by the time that a run is long enough it could be enough.
        return case.rounds < POLICY.enough_rounds and matters(growth, POLICY.enough_rounds)
    is_few = len(account.present) < POLICY.enough_rounds - POLICY.warmup_marks
    has_settled = account.rate_before is not None and len(account.present) >= POLICY.settled_marks
    likely = POLICY.likely_in_few if is_few else POLICY.likely
    # What has been level after a rise is taken at its word, unless chance can hardly explain it.
    likely = POLICY.by_chance_in_few if has_settled else likely
    is_much = not is_slow(growth) or growth.slope * span >= POLICY.noticeable_bytes
    # A few marks that all rise are weighed by what they come to in a run that is long enough.
    rounds = max(span, POLICY.enough_rounds) if growth.low > 0 else span
    is_material = matters(growth, rounds) if is_few else is_much
    is_likely = growth.p_rising <= likely and is_material
    is_likely |= growth.p_rising <= POLICY.by_chance and matters(growth, span)
    if is_likely and has_clearly_stopped(account.present):
        return False
    return is_likely or (is_few and is_large(growth) and not has_settled)


def _jumped_lately(account: Account) -> bool:
    tail = account.tail
    # The very last mark alone may be a spike, which is nothing.
    if len(tail) <= 1 or not len(account.present):
        return False
    rise = float(tail.y.min() - account.present.y[-1])
    return is_noticeable(rise, float(tail.y[-1]))


def _longest_gap(account: Account) -> float:
    return float(np.diff([jump.round for jump in account.jumps]).max())


def _jumps_keep_coming(case: Case, account: Account) -> bool:
    if len(account.jumps) < POLICY.jumps_that_recur:
        return False
    since = float(case.steady.x[-1]) - account.jumps[-1].round
    total = sum(jump.size for jump in account.jumps)
    return since <= POLICY.alike * _longest_gap(account) and total >= POLICY.large_rise_bytes
