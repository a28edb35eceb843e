"""From the low-water marks of one unit at one place to a verdict."""

import math
from dataclasses import replace

import numpy as np

from lowwater.model import Kind, Verdict
from lowwater.model.policy import POLICY
from lowwater.verdict import reasons, words
from lowwater.verdict.account import Account, account_of, off_line
from lowwater.verdict.asked import Asked
from lowwater.verdict.case import CLOCK_UNIT, Case
from lowwater.verdict.garbage import Says, Testimony, ask_collections, without_garbage
from lowwater.verdict.growth import is_large, is_regular, is_slow, matters
from lowwater.verdict.kept import is_noticeable
from lowwater.verdict.segments import has_clearly_stopped
from lowwater.verdict.slowing import has_slowed, slows_down
from lowwater.verdict.trend import Trend, trend

_DOUBT = tuple[str, int]


def judge_case(case: Case) -> Verdict:
    """The verdict on one unit at one place, with the questions that led to it."""
    asked = Asked()
    verdict = _judge(case, asked)
    return replace(verdict, questions=asked.questions)


def _judge(case: Case, asked: Asked) -> Verdict:
    is_by_clock = case.unit.name == CLOCK_UNIT
    fewest = "clock_stretches" if is_by_clock else "fewest_marks"
    asked.about("Is there enough to judge?")
    is_enough = asked.at_least(
        "Are there enough samples?", len(case.samples), fewest
    ) and asked.at_least("Are there enough marks?", len(case.marks), "fewest_marks")
    if not is_enough:
        return reasons.too_few(case)
    asked.about("Is it garbage?")
    heard = ask_collections(case, asked)
    if heard.says is Says.LIVE:
        case = replace(case, marks=without_garbage(case))
    seen = _weigh(case, heard, asked)
    if seen.kind is not Kind.LEAK:
        return seen
    asked.about("Is it memory in use that grows?")
    if not asked.whether("Does malloc report the bytes in use?", not case.is_resident):
        return reasons.foreign_allocator(case, trend(case.steady))
    if is_by_clock and asked.whether(
        "Has memory more than doubled, without round trips?",
        np.ptp(case.steady.y) > case.steady.y[0],
    ):
        return reasons.only_by_clock(case, trend(case.steady))
    return seen


def _weigh(case: Case, heard: Testimony, asked: Asked) -> Verdict:
    """What the marks say, in the light of what the collections said."""
    if heard.says is Says.BOTH and heard.live is not None:
        return _live_leak(case, heard.live, heard.freed_bytes, asked)
    seen = _judge_marks(case, heard, asked)
    asked.about("Is it garbage?")
    if heard.says is Says.GARBAGE and _is_garbage(seen, heard, asked):
        return reasons.waits_for_collector(case, heard.live, heard.freed_bytes)
    if heard.says is Says.UNSURE and seen.kind in (Kind.LEAK, Kind.SAWTOOTH, Kind.INCONCLUSIVE):
        growth = heard.live or trend(case.steady)
        more = max(POLICY.settled_marks, math.ceil(POLICY.late_share * case.rounds))
        return reasons.needs_more(case, growth, more, "part of the rise was garbage")
    return seen


def _live_leak(case: Case, live: Trend, freed_bytes: int, asked: Asked) -> Verdict:
    count = len(case.collected.x)
    is_enough = asked.at_least("Are there enough rounds?", case.rounds, "enough_rounds") or (
        asked.at_least("Are there enough for a clear leak?", case.rounds, "fewest_rounds")
        and asked.at_least("Are there several collections?", count, "marks_of_a_piece")
        and is_large(live, asked)
    )
    if not is_enough:
        return reasons.needs_more(case, live, POLICY.enough_rounds - case.rounds)
    return reasons.leak_under_garbage(case, live, freed_bytes)


def _is_garbage(seen: Verdict, heard: Testimony, asked: Asked) -> bool:
    if seen.kind in (Kind.LEAK, Kind.INCONCLUSIVE, Kind.CACHE, Kind.SAWTOOTH, Kind.TRICKLE):
        return True
    # A run that is flat anyway: much garbage is worth telling (200 `predict` calls).
    text = "Did collections free enough to mention?"
    return seen.kind in (Kind.FLAT, Kind.WARM_UP) and asked.at_least(
        text, heard.total_freed_bytes, "told_rise_bytes"
    )


def _judge_marks(case: Case, heard: Testimony, asked: Asked) -> Verdict:
    """What the marks say by their account."""
    account = account_of(case.steady)
    growth, span = account.growth, account.present.span
    asked.about("Does memory in use grow?")
    text = "Did it fall back and rise again?"
    if asked.whether(text, account.fell and not account.only_swings, len(account.lows)):
        return _sawtooth(case, account, heard, asked)
    if not (account.rises(asked) and matters(growth, span, asked)) or _dies_away(account, asked):
        return _settled(case, account, asked)
    return _rising(case, account, asked)


def _sawtooth(case: Case, account: Account, heard: Testimony, asked: Asked) -> Verdict:
    """Memory came back, and rose again."""
    if asked.whether("Did it fall back to one level?", account.lows_are_level):
        return reasons.sawtooth(case, account.lows)
    # The collector's small runs leave old garbage: rising lows alone do not prove live bytes.
    growth = trend(account.lows)
    is_leak = (
        asked.whether("Is each low point above the one before?", account.lows_rise)
        and asked.whether("Did collections free little?", heard.says is Says.LIVE)
        and matters(growth, account.lows.span, asked)
    )
    if is_leak:
        return reasons.leak_under_sawtooth(case, growth)
    several = "it falls back now and then, but not to the same level"
    why = several if len(account.lows) > 1 else "it fell back once"
    return reasons.needs_more(case, account.growth, case.rounds, why)


def _rising(case: Case, account: Account, asked: Asked) -> Verdict:
    asked.about("Is there a doubt?")
    doubt = _doubt(case, account, asked)
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


def _doubt(case: Case, account: Account, asked: Asked) -> _DOUBT | None:
    """Why a rise is not a leak for certain, and how many more rounds would tell; None if it is."""
    growth, rounds = account.growth, case.rounds
    if _has_paused(account, asked):
        return "its growth paused", POLICY.marks_of_a_piece
    if slows_down(account, asked):
        return "its growth slows down", max(
            POLICY.fewest_rounds, math.ceil(POLICY.late_share * rounds)
        )
    if _began_lately(case, account, asked):
        since = f"it began to rise only at {words.one(case.unit)} {account.begins:.0f}"
        return since, _late_rounds_missing(case, account)
    if not _has_enough_rounds(case, account, asked):
        return "", _rounds_missing(case, growth)
    if _is_untested(case, account, asked):
        return "it may be garbage that Python has not collected yet", _rounds_missing(case, growth)
    return None


def _is_untested(case: Case, account: Account, asked: Asked) -> bool:
    """Whether no collection was tried since it rises like this, where that is to be expected.

    A small rise, or one of a few rounds, may be garbage; and so may any that began only after
    collections that gave something back.
    """
    tried = case.collected
    if len(tried.x):
        rise = max(float(tried.before.max() - case.marks.y[0]), POLICY.resolution_bytes)
        most, is_since = float(tried.freed.max()), tried.x[-1] <= account.begins
        if not asked.whether("Did it begin after the last collection?", is_since):
            return False
        return not asked.at_most("Did they free only little?", most, "freed_little", of=rise)
    return is_slow(account.growth, asked) or asked.less_than(
        "Is the run too short without a collection?", case.rounds, "enough_rounds"
    )


def _has_paused(account: Account, asked: Asked) -> bool:
    """Whether the last marks have hardly risen, and fall behind further than others strayed."""
    marks, rate = account.marks, account.growth.slope
    since = len(marks) - 1 - max(len(account.tail), 1)
    rounds, risen = marks.x[-1] - marks.x[since], marks.y[-1] - marks.y[since]
    has_hardly_risen = asked.less_than(
        "Did the last rounds add much less?", float(risen / rounds), "alike**-2", of=rate
    )
    if not has_hardly_risen:
        return False
    is_even = len(account.tail) > 0 or asked.at_most(
        "Are the other rounds even?", account.noise, "noise_share", of=account.growth.high
    )
    text = "Is the last mark unusually low?"
    return is_even and asked.whether(text, _falls_behind(account))


def _falls_behind(account: Account) -> bool:
    """Whether the last mark is further below the line than from its lowest mark to its highest."""
    marks = account.marks
    start, stop = marks.index_of(account.begins), len(marks) - max(len(account.tail), 1)
    _, off = off_line(marks, start, stop)
    strayed = float(np.ptp(off[start:stop])) + POLICY.standard_errors * account.noise
    return bool(-off[-1] > strayed)


def _dies_away(account: Account, asked: Asked) -> bool:
    """Whether next to nothing is added any more, beside what was before."""
    added = account.growth.slope * account.present.span
    text = "Is it little beside what came before?"
    return (
        is_slow(account.growth, asked)
        and asked.less_than(text, added, "slight_share", of=account.gained)
        and slows_down(account, asked)
    )


def _began_lately(case: Case, account: Account, asked: Asked) -> bool:
    """A ramp that began late must last before it is more than a last phase of the program."""
    is_late = account.rate_before is not None and not has_slowed(account)
    if not asked.whether("Did this rise begin during the run?", is_late):
        return False
    rounds = round(account.present.span)
    is_long = asked.at_least("Has it risen for enough rounds?", rounds, "fewest_rounds")
    text = "Is that a good part of the run?"
    return not (is_long and asked.at_least(text, rounds, "late_share", of=case.steady.span))


def _late_rounds_missing(case: Case, account: Account) -> int:
    enough = max(POLICY.fewest_rounds, math.ceil(POLICY.late_share * case.steady.span))
    return enough - round(account.present.span)


def _has_enough_rounds(case: Case, account: Account, asked: Asked) -> bool:
    if asked.at_least("Are there enough rounds?", case.rounds, "enough_rounds"):
        return True
    if not asked.at_least("Are there enough for a clear leak?", case.rounds, "fewest_rounds"):
        return False
    text = "Does each round add about the same?"
    return is_large(account.growth, asked) or asked.whether(text, is_regular(account.present))


def _rounds_missing(case: Case, growth: Trend) -> int:
    is_early = is_large(growth) and case.rounds < POLICY.fewest_rounds
    enough = POLICY.fewest_rounds if is_early else POLICY.enough_rounds
    return enough - case.rounds if case.rounds < enough else POLICY.settled_marks


def _settled(case: Case, account: Account, asked: Asked) -> Verdict:
    growth = account.growth
    asked.about("May it grow after all?")
    if _jumps_keep_coming(case, account, asked):
        why, longest = "it keeps rising in jumps", math.ceil(_longest_gap(account))
        return reasons.needs_more(case, trend(case.steady), longest, why)
    if _jumped_lately(account, asked):
        why = "it jumped in one of the last rounds"
        return reasons.needs_more(case, growth, POLICY.marks_of_a_piece, why)
    if _has_hardly_stopped(account, asked) or _may_rise(case, account, asked):
        return reasons.needs_more(case, growth, _rounds_missing(case, growth))
    return reasons.settled(case, account, asked)


def _has_hardly_stopped(account: Account, asked: Asked) -> bool:
    """Whether it rose until lately: a pause is no end."""
    if not asked.at_least("Did it rise earlier in the run?", account.gained, "resolution_bytes"):
        return False
    if _goes_on_more_slowly(account, asked):
        return True
    y = account.marks.y
    level = float(np.median(account.present.y))
    near = max(POLICY.resolution_bytes, POLICY.standard_errors * account.noise)
    arrived = int(np.argmax(y >= level - near))
    text = "Has it been level only briefly?"
    return asked.less_than(text, len(y) - arrived, "settled_marks")


def _goes_on_more_slowly(account: Account, asked: Asked) -> bool:
    """Whether a few marks do not exclude that it still rises, at a good part of its old rate."""
    before, growth = account.rate_before, account.growth
    is_few = len(account.present) < POLICY.enough_rounds - POLICY.warmup_marks
    if before is None or not is_few:
        return False
    text = "Is the rate still a good part of the earlier one?"
    return asked.more_than(text, growth.slope, "alike**-3", of=before) and asked.more_than(
        "Is the upper estimate, too?", growth.high, "alike**-2", of=before
    )


def _may_rise(case: Case, account: Account, asked: Asked) -> bool:
    """Whether a rise that would matter is neither certain nor excluded."""
    growth, span = account.growth, account.present.span
    if account.is_rising:
        # Too little by now, but by the time that a run is long enough it could be enough.
        return asked.less_than(
            "Is the run too short to add up?", case.rounds, "enough_rounds"
        ) and matters(growth, POLICY.enough_rounds, asked)
    is_few = len(account.present) < POLICY.enough_rounds - POLICY.warmup_marks
    has_settled = account.rate_before is not None and len(account.present) >= POLICY.settled_marks
    likely = "likely_in_few" if is_few else "likely"
    # What has been level after a rise is taken at its word, unless chance can hardly explain it.
    likely = "by_chance_in_few" if has_settled else likely
    is_likely = asked.at_most(
        "Is a rise unlikely to be chance?", growth.p_rising, likely
    ) and _would_matter(growth, span, asked, is_few=is_few)
    is_likely = is_likely or (
        asked.at_most("Is it very unlikely to be chance?", growth.p_rising, "by_chance")
        and matters(growth, span, asked)
    )
    if is_likely:
        return not asked.whether("Has it clearly stopped?", has_clearly_stopped(account.present))
    return is_few and not has_settled and is_large(growth, asked)


def _would_matter(growth: Trend, span: float, asked: Asked, *, is_few: bool) -> bool:
    if is_few:
        # Marks that all rise are weighed by what they come to in a run that is long enough.
        rounds = max(span, POLICY.enough_rounds) if growth.low > 0 else span
        return matters(growth, rounds, asked)
    return not is_slow(growth, asked) or asked.at_least(
        "Is the total growth noticeable?", growth.slope * span, "noticeable_bytes"
    )


def _jumped_lately(account: Account, asked: Asked) -> bool:
    tail = account.tail
    # The very last mark alone may be a spike, which is nothing.
    if len(tail) <= 1 or not len(account.present):
        return False
    rise = float(tail.y.min() - account.present.y[-1])
    return is_noticeable("Did it jump in the last rounds?", rise, float(tail.y[-1]), asked)


def _longest_gap(account: Account) -> float:
    return float(np.diff([jump.round for jump in account.jumps]).max())


def _jumps_keep_coming(case: Case, account: Account, asked: Asked) -> bool:
    if not asked.at_least("Did it jump again and again?", len(account.jumps), "jumps_that_recur"):
        return False
    since = float(case.steady.x[-1]) - account.jumps[-1].round
    total = sum(jump.size for jump in account.jumps)
    is_recent = asked.at_most("Is the last jump recent?", since, "alike", of=_longest_gap(account))
    return is_recent and asked.at_least("Do the jumps add up?", total, "told_rise_bytes")
