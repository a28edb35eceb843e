"""What the collector's experiments say: live bytes, or garbage that waits to be collected."""

import math
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from lowwater.model.policy import POLICY
from lowwater.verdict.account import account_of
from lowwater.verdict.asked import UNNOTED, Asked
from lowwater.verdict.case import Case
from lowwater.verdict.growth import is_large, is_regular, matters
from lowwater.verdict.segments import noise_of, slope_error
from lowwater.verdict.series import Floats, Series
from lowwater.verdict.trend import Trend, trend


class Says(StrEnum):
    """The answer of the experiments."""

    NOTHING = "there were none, or they do not bear on the rise"
    LIVE = "nothing was freed: the bytes are live"
    GARBAGE = "it was garbage"
    BOTH = "part was garbage, and what is live rises too"
    UNSURE = "part was garbage, and it is not clear yet whether the rest rises"


@dataclass(frozen=True, slots=True)
class Testimony:
    """The answer, the trend of the live bytes, and what one and all collections gave back."""

    says: Says
    live: Trend | None = None
    freed_bytes: int = 0
    total_freed_bytes: int = 0


def ask_collections(case: Case, asked: Asked = UNNOTED) -> Testimony:
    """What the collections after warm-up tell about the rise."""
    found, steady = case.collected, case.steady
    count = len(found.x) if len(steady) else 0
    if not asked.whether("Was garbage collected after warm-up?", count > 0, count):
        return Testimony(Says.NOTHING)
    freed = float(np.median(found.freed))
    rise = float(found.before.max() - steady.y[0])
    if asked.at_most("Did it free little of the rise?", _most_freed(case), "freed_little", of=rise):
        return Testimony(Says.LIVE)
    total = round(float(found.freed.sum()))
    if len(found.x) == 1:
        return Testimony(_one_alone(case, freed, rise, asked), None, round(freed), total)
    live = trend(found.marks)
    says = _several(case, live, asked)
    # Where there are enough collections, what they leave behind is judged like any other marks.
    if says is Says.BOTH and asked.whether(
        "Has what collections leave stopped growing?", _has_stopped(found.marks)
    ):
        says = Says.UNSURE
    elif says is Says.BOTH and asked.whether(
        "Is it level right after each collection?", _is_level(found.measured, case)
    ):
        # What is live at the boundary varies from round to round. Where it was measured, right
        # after each collection, it does not rise.
        says = Says.GARBAGE
    elif says is Says.UNSURE and asked.whether(
        "Does it rise evenly right after each collection?", _is_line(found.measured, case)
    ):
        # As measured they are on one line, so what is live in the midst of a round is always alike.
        return Testimony(Says.BOTH, trend(found.measured), round(freed), total)
    return Testimony(says, _by_noise(live, case), round(freed), total)


def _has_stopped(live: Series) -> bool:
    return len(live) >= POLICY.fewest_marks and not account_of(live).is_rising


def _is_level(measured: Series, case: Case) -> bool:
    return len(measured) > 1 and not matters(trend(measured), case.steady.span)


def _by_noise(live: Trend, case: Case) -> Trend:
    """Of a few collections the order alone tells little: then the noise of the marks tells more."""
    if live.low > 0 or not math.isfinite(live.low):
        return live
    error = 2 * slope_error(case.collected.marks, noise_of(case.steady))
    return replace(live, low=max(live.low, live.slope - error), high=live.slope + error)


def without_garbage(case: Case) -> Series:
    """The marks less the garbage that was waiting then.

    Between two collections it is taken to have come evenly. What the first one found is older in
    part: tracing and imports leave garbage before the first round. A collection that frees little
    still bends the line of the marks, which matters where there are only a few.
    """
    marks, found = case.marks, case.collected
    if not len(found.x):
        return marks
    freed = _beyond_noise(case)
    freed = np.where(freed > noise_of(case.steady), freed, 0.0)
    gaps = np.maximum(np.diff(found.x), 1.0)
    freed = np.maximum(freed - _always_there(freed[1:], gaps), 0.0)
    later = freed[1:] / gaps
    usual = float(np.median(later)) if len(later) else 0.0
    rates = np.concatenate(([min(usual, freed[0] / max(found.x[0], 1.0))], later))
    next_one = np.minimum(np.searchsorted(found.x, marks.x), len(found.x) - 1)
    waiting = freed[next_one] - rates[next_one] * (found.x[next_one] - marks.x)
    since_last = usual * (marks.x - found.x[-1])
    waiting = np.where(marks.x > found.x[-1], since_last, waiting)
    return Series(marks.x, marks.y - np.maximum(waiting, 0.0), marks.breaks)


def _always_there(freed: Floats, gaps: Floats) -> float:
    """The garbage that is there at any time, however short ago the last collection was.

    Python's own collector keeps it from growing: it has no part in the rise from mark to mark.
    """
    if len(freed) < POLICY.marks_of_a_piece or np.ptp(gaps) == 0:
        return 0.0
    off = gaps - gaps.mean()
    rate = max(0.0, float((off * freed).sum() / (off**2).sum()))
    return max(0.0, float(np.median(freed - rate * gaps)))


def _beyond_noise(case: Case) -> Floats:
    """What each collection gave back for certain.

    Other threads go on while the collector runs. Where memory grew meanwhile, by what they took,
    they may have freed as much at another time.
    """
    freed = case.collected.freed
    by_others = max(0.0, -float(freed.min()))
    return np.asarray(np.maximum(freed - by_others, 0.0))


def _most_freed(case: Case) -> float:
    """The most that a collection gave back for certain, and not more than all of them together.

    What other threads let go of in one and took in the others was not in the collector's hands.
    """
    together = max(0.0, float(case.collected.freed.sum()))
    return min(float(_beyond_noise(case).max()), together)


def _one_alone(case: Case, freed: float, rise: float, asked: Asked) -> Says:
    rounds, before = float(case.collected.x[0]), float(case.collected.x[0] - case.steady.x[0])
    if not asked.whether("Had memory risen before the collection?", rise > 0 and before > 0):
        return Says.NOTHING
    # The garbage may be older than the rise that we look at: compare rates as well as amounts.
    shares = freed / rise, (freed / rounds) / (rise / before)
    if asked.at_least("Did it free most of the rise?", min(shares), "freed_most"):
        return Says.GARBAGE
    is_little = asked.at_most("Did it free little of the rise?", max(shares), "freed_little")
    return Says.LIVE if is_little else Says.UNSURE


def _several(case: Case, live: Trend, asked: Asked) -> Says:
    marks, found = case.collected.marks, case.collected
    if len(marks) < POLICY.marks_of_a_piece and marks.span < POLICY.late_share * case.steady.span:
        rise = float(found.before[0] - case.steady.y[0])
        return _one_alone(case, float(found.freed[0]), rise, asked)
    asked.about("What collections leave in use")
    if not matters(live, case.steady.span, asked):
        return Says.GARBAGE
    all_growth = _rate_without_experiments(case)
    text = "Is it a good part of all growth?"
    is_much = asked.at_least(text, live.slope, "live_share", of=all_growth)
    if not asked.whether("Does it climb beyond noise and chance?", _climbs(marks, case)):
        return Says.UNSURE if is_much else Says.GARBAGE
    is_proven = _is_proven(marks, live, asked, is_much=is_much)
    text = "Can it have grown since the last one?"
    goes_on = is_proven and asked.whether(text, _goes_on(case, live))
    return Says.BOTH if goes_on else Says.UNSURE


def _is_proven(marks: Series, live: Trend, asked: Asked, *, is_much: bool) -> bool:
    """Three marks that climb do so by chance one time in six: then they must climb evenly."""
    if len(marks) >= POLICY.settled_marks:
        return (
            is_much
            or asked.whether("Does each round add about the same?", is_regular(marks))
            or asked.at_most("Is it unlikely to be chance?", live.p_rising, "by_chance_in_few")
        )
    is_steep = is_large(live) and is_regular(marks)
    is_straight = len(marks) >= POLICY.marks_of_a_piece and _is_straight(marks)
    text = "Are the few collections on one line?"
    return is_much and asked.whether(text, is_steep or is_straight)


def _is_line(measured: Series, case: Case) -> bool:
    if (
        len(measured) < POLICY.settled_marks
        or not _climbs(measured, case)
        or not is_regular(measured)
    ):
        return False
    live = trend(measured)
    is_certain = live.low >= POLICY.clear_share * live.slope
    return is_certain and matters(live, case.steady.span) and _goes_on(case, live)


def _is_straight(marks: Series) -> bool:
    """Whether no mark is far from the line between the first and the last."""
    rise = float(marks.y[-1] - marks.y[0])
    line = marks.y[0] + rise * (marks.x - marks.x[0]) / max(marks.span, 1.0)
    return bool((np.abs(marks.y - line) <= POLICY.noise_share * rise).all())


def _climbs(marks: Series, case: Case) -> bool:
    """More rises than chance would give, and by more than the noise.

    A few are too few to tell their own noise: then it is that of all marks, less their garbage.
    Three prove nothing by their order either; `_is_proven` asks more of them.
    """
    if len(marks) < POLICY.settled_marks:
        return bool((np.diff(marks.y) > 0).all())
    found = trend(marks)
    noise = noise_of(marks if len(marks) >= POLICY.fewest_marks else without_garbage(case))
    is_clear = found.slope > POLICY.standard_errors * slope_error(marks, noise)
    return is_clear and found.p_rising <= POLICY.likely_in_few


def _rate_without_experiments(case: Case) -> float:
    """How fast memory would have risen had the collections not given anything back."""
    found = case.collected
    rise = found.before[-1] + found.freed[:-1].sum() - case.steady.y[0]
    return float(rise / max(found.x[-1] - case.steady.x[0], 1.0))


def _goes_on(case: Case, live: Trend) -> bool:
    """Whether live bytes can have risen since the last collection: they are below the marks."""
    last = float(case.collected.x[-1])
    since = case.steady.since(last)
    if len(since) < POLICY.marks_of_a_piece or since.span < POLICY.late_share * case.steady.span:
        return True
    expected = case.collected.after[-1] + live.slope * since.span / 2
    return bool(np.median(since.y[-POLICY.marks_of_a_piece :]) >= expected)
