"""What memory that does not leak is doing: filling a cache, warming up, being kept for reuse.

When it settled has one definition, the bend in the way to its level (`_settled_at`).
`Account.begins` is where the present line begins, which is for the trend: a cache
that is full in round 5 may come to its line only in round 7.
"""

from typing import NamedTuple

import numpy as np

from lowwater.model import Kind, gauges
from lowwater.model.policy import POLICY
from lowwater.model.units import format_bytes
from lowwater.verdict import words
from lowwater.verdict.account import Account, account_of
from lowwater.verdict.asked import UNNOTED, Asked
from lowwater.verdict.case import Case, start_bytes
from lowwater.verdict.records import rises_beyond_records
from lowwater.verdict.series import Series


class Explained(NamedTuple):
    """A kind that is no leak, with its reason."""

    kind: Kind
    because: str


def explain(case: Case, account: Account, asked: Asked) -> Explained:
    """The most telling innocent reading of a run whose bytes in use have settled."""
    asked.about("If it is not a leak, what is it?")
    found = _cache(case, asked) or _fragmented(case, account, asked)
    if found:
        return found
    trickle = _trickle(case, account, asked)
    # Growth that is no garbage is told before all that is level; what may be garbage, beside it.
    if trickle and not _may_be_garbage(case, account, asked):
        return trickle
    mapped = _mapped_files(case, asked)
    if mapped:
        return _beside(mapped, case, account) if trickle else mapped
    found = _reserved(case, account, asked)
    # What creeps on is told beside a jump, but would be hidden by a fill.
    found = found or (None if trickle else _slow_cache(case, account, asked))
    return found or _warm_up(case, account, asked) or trickle or _flat(case, account)


def is_noticeable(text: str, jump: float, level: float, asked: Asked) -> bool:
    """Whether a one-time jump is large enough to be told."""
    if not asked.at_least(text, jump, "noticeable_bytes"):
        return False
    text = "Is that a good part of memory in use?"
    return asked.at_least(text, jump, "noticeable_share", of=level)


def _risen(account: Account) -> float:
    """How many bytes a rise that is certain has added; 0 where none is."""
    return account.growth.slope * account.present.span if account.rises_as_far_as_seen else 0.0


def subject(case: Case) -> str:
    """What a sentence about the case begins with: `host memory in use`."""
    return words.memory_of(case.place, is_resident=case.is_resident)


def _level(case: Case) -> float:
    """Where the bytes in use have settled: the middle of the last third."""
    return float(np.median(case.marks.y[-max(len(case.marks) // 3, 1) :]))


def _settled_at(case: Case, start: float, level: float) -> int:
    """The index of the first mark of the level: the bend in the way to it.

    That is the mark which is furthest above the straight line from the start to the end. It needs
    no threshold, and is the same for one jump and for a hundred small steps.
    """
    x, y = case.marks.x, np.minimum(case.marks.y, level)
    straight = start + (level - start) * (x - x[0] + 1) / (x[-1] - x[0] + 1)
    return int(np.argmax(y - straight))


def _cache(case: Case, asked: Asked) -> Explained | None:
    """It rose in several rounds, one soon after the other, and in none of them by most of it."""
    y, level = case.marks.y, _level(case)
    risen = level - y[0]
    steps = np.diff(np.minimum(y, level))
    filling = np.flatnonzero(steps >= POLICY.slight_share * risen)
    fills = (
        asked.at_least("Cache: did it rise by enough?", risen, "told_rise_bytes")
        and asked.at_least("Cache: did it rise in several steps?", len(filling), "marks_of_a_piece")
        and asked.at_most(
            "Cache: is no step most of it?", float(steps.max()), "most_in_one_step", of=risen
        )
        and asked.at_most(
            "Cache: did the steps follow each other?", float(np.diff(filling).max()), "alike"
        )
    )
    if not fills:
        return None
    full = _settled_at(case, float(y[0]), level)
    still = float(y[-1] - y[full]) > POLICY.slight_share * risen
    return _full(case, risen, full, "barely" if still else "not")


def _slow_cache(case: Case, account: Account, asked: Asked) -> Explained | None:
    """It rose for so many rounds that none of them added much, and has settled."""
    gained, noise = account.gained, account.noise
    steps = np.diff(np.minimum(case.marks.y, _level(case)))
    has_filled = (
        asked.whether("Slow cache: did it rise before?", (account.rate_before or 0.0) > 0)
        and asked.at_least("Slow cache: did it rise by enough?", gained, "told_rise_bytes")
        and asked.at_least("Slow cache: is that beyond noise?", gained, "standard_errors", of=noise)
        and asked.at_most(
            "Slow cache: is no step most of it?", float(steps.max()), "most_in_one_step", of=gained
        )
    )
    if not has_filled:
        return None
    since = "barely" if account.growth.low > 0 else "not"
    return _full(case, gained, _settled_at(case, float(case.marks.y[0]), _level(case)), since)


def _full(case: Case, risen: float, full: int, since: str) -> Explained:
    """A cache that had all that it has at the mark with the index `full`."""
    return Explained(
        Kind.CACHE,
        f"{subject(case)} rose by {format_bytes(risen)} until {words.one(case.unit)} "
        f"{case.marks.x[full]:.0f} and has {since} grown since, like a full cache or buffer",
    )


def _fragmented(case: Case, account: Account, asked: Asked) -> Explained | None:
    free, anon = case.gauge(gauges.HEAP_FREE), case.gauge(gauges.RSS_ANON)
    if case.place != gauges.HOST:
        return None
    rate = _rise("Fragmented", "free memory", free, asked)
    if not rate or not _rise("Fragmented", "resident memory", anon, asked):
        return None
    # Most of it may have come at once, and is kept for reuse: that is told, and not what creeps.
    steady, kept = rate * (free.x[-1] - free.x[0]), free.y[-1]
    text = "Fragmented: is most of it from steady growth?"
    if not asked.at_least(text, steady, "steady_share", of=kept):
        return None
    if not rises_beyond_records(free, asked):
        return None
    return Explained(
        Kind.FRAGMENTED,
        f"host memory in use {_now(case, account)}, but free memory stuck in malloc's heap grows "
        f"by {format_bytes(rate)} per {words.one(case.unit)} (now {format_bytes(free.y[-1])})",
    )


def _mapped_files(case: Case, asked: Asked) -> Explained | None:
    if case.place != gauges.HOST:
        return None
    if not (rate := _rise("Mapped files", "their memory", case.gauge(gauges.RSS_FILE), asked)):
        return None
    return Explained(
        Kind.FLAT,
        f"resident memory rose by {format_bytes(rate)} per {words.one(case.unit)}, but these are "
        "pages of mapped files, which the kernel can free when memory is short",
    )


def _rise(topic: str, what: str, series: Series, asked: Asked) -> float:
    """How fast a gauge rises that has noticeably risen; 0 if it does not."""
    if len(series) < POLICY.fewest_marks:
        return 0.0
    account = account_of(series)
    risen = account.growth.slope * account.present.span
    rises = asked.at_least(
        f"{topic}: does {what} grow?", risen, "noticeable_bytes"
    ) and asked.whether(f"{topic}: is that rise certain ({what})?", account.is_rising)
    return account.growth.slope if rises else 0.0


def _now(case: Case, account: Account) -> str:
    """Level, unless it grows for certain, be it ever so little."""
    if not account.rises_as_far_as_seen:
        return "is level"
    rate = f"{format_bytes(account.growth.slope)} per {words.one(case.unit)}"
    return f"grows by only {rate}{_caution(case, account)}"


def _caution(case: Case, account: Account) -> str:
    may_be = ", which may be garbage that Python has not collected yet"
    return may_be if _may_be_garbage(case, account) else ""


def _may_be_garbage(case: Case, account: Account, asked: Asked = UNNOTED) -> bool:
    """Whether no collection was tried, and it is no more than innocent programs leave waiting."""
    text = "Trickle: so little that it may be garbage?"
    return not len(case.collected.x) and asked.less_than(text, _risen(account), "resolution_bytes")


def _reserved(case: Case, account: Account, asked: Asked) -> Explained | None:
    if not case.samples:
        return None
    last = case.samples[-1].gauges
    if case.place != gauges.HOST:
        return _reserved_on_device(case, account, asked)
    kept, anon = gauges.kept_bytes(last), last.get(gauges.RSS_ANON, 0)
    if not asked.at_least("Reserved: do allocators keep much free?", kept, "reserved_bytes"):
        return None
    text = "Reserved: is it a good part of resident memory?"
    if not asked.at_least(text, kept, "reserved_share", of=anon):
        return None
    return Explained(
        Kind.RESERVED,
        f"host memory in use {_now(case, account)}; the allocator keeps {format_bytes(kept)} of "
        f"{format_bytes(anon)} resident memory free for reuse",
    )


def _reserved_on_device(case: Case, account: Account, asked: Asked) -> Explained | None:
    """The pool of the framework is full for the driver, and nearly empty inside."""
    last = case.samples[-1].gauges
    pool, in_use, taken, total = (
        last.get(gauges.device_gauge(case.place, what), 0)
        for what in (gauges.POOL, gauges.IN_USE, gauges.DRIVER_OURS, gauges.DRIVER_TOTAL)
    )
    kept = pool - in_use
    if not asked.at_least("Reserved: does the pool keep much free?", kept, "reserved_bytes"):
        return None
    if not asked.at_least("Reserved: is it a good part of it?", kept, "reserved_share", of=pool):
        return None
    returns = "TensorFlow keeps the rest for reuse and returns it when the process ends"
    if taken:
        shown = f"{format_bytes(taken)} of {format_bytes(total)}"
        because = (
            f"`nvidia-smi` shows {shown} of {case.place} for this program, of which "
            f"{format_bytes(in_use)} is in use; {returns}"
        )
    else:
        of_pool = f"of about {format_bytes(pool)} in TensorFlow's pool on {case.place}"
        because = f"{of_pool}, {format_bytes(in_use)} is in use; {returns}"
    grows = f" (what is in use {_now(case, account)})" if account.rises_as_far_as_seen else ""
    return Explained(Kind.RESERVED, f"{because}{grows}")


def _warm_up(case: Case, account: Account, asked: Asked) -> Explained | None:
    level, start = _level(case), start_bytes(case)
    first = min(float(case.marks.y[0]), level if start is None else float(start))
    if not is_noticeable("Warm-up: did it jump early?", level - first, level, asked):
        return None
    since = int(case.marks.x[_settled_at(case, first, level)])
    risen, one = format_bytes(level - first), words.one(case.unit)
    if account.rises_as_far_as_seen:
        because = f"rose by {risen} until {one} {since}; since then it {_now(case, account)}"
    else:
        because = f"rose by {risen} and has been level since {one} {since}"
    return Explained(Kind.WARM_UP, f"{subject(case)} {because}")


def _trickle(case: Case, account: Account, asked: Asked) -> Explained | None:
    """Growth that is certain, but too little in all to be told from garbage that waits."""
    rate = account.growth.slope
    if not asked.whether("Trickle: is a small growth certain?", account.rises_as_far_as_seen):
        return None
    return Explained(
        Kind.TRICKLE,
        f"{subject(case)} grows by {format_bytes(rate)} per {words.one(case.unit)}, "
        f"{format_bytes(_risen(account))} so far{_caution(case, account)}. "
        f"{words.amounts(rate, case.unit)}",
    )


def _beside(mapped: Explained, case: Case, account: Account) -> Explained:
    """What grows for certain is never flat, even where something else is what a user saw."""
    adds_up_to = words.amounts(account.growth.slope, case.unit)
    because = f"{mapped.because}; {subject(case)} {_now(case, account)}. {adds_up_to}"
    return Explained(Kind.TRICKLE, because)


def _flat(case: Case, account: Account) -> Explained:
    steady, rounds = case.steady, case.rounds - case.warmup
    over = f"over {rounds} {words.many(case.unit)} after warm-up"
    swing = format_bytes(float(np.ptp(steady.y)))
    if account.growth.high < 0:
        return Explained(Kind.FLAT, f"{subject(case)} fell by {swing} {over}")
    return Explained(Kind.FLAT, f"{subject(case)} stayed within {swing} {over}")
