"""Why memory ran out: rules that ask what is known of the shortage, the first answer counts."""

from collections.abc import Callable
from typing import NamedTuple

from lowwater.model import Kind, Question, Unit, Verdict
from lowwater.model.autopsy import IN_HOST_POOL, MACHINE, Manner
from lowwater.model.shortage_policy import SHORTAGE_POLICY
from lowwater.model.units import format_bytes
from lowwater.verdict import words
from lowwater.verdict.shortage import Shortage

_Found = tuple[Manner, str]


class Ruling(NamedTuple):
    """The answer, its reason, and the questions that led to it."""

    manner: Manner
    because: str
    questions: tuple[Question, ...]


def decide(facts: Shortage) -> Ruling:
    """Ask until one rule has an answer."""
    asked: list[Question] = []
    for text, rule in _RULES:
        found = rule(facts)
        asked.append(Question("", text, found is not None))
        if found is not None:
            return Ruling(*found, tuple(asked))
    because = "it failed in its first rounds, before anything could build up"
    return Ruling(Manner.TOO_BIG, because, tuple(asked))


def _alone(facts: Shortage) -> _Found | None:
    """Nothing but this would have to be there."""
    requested, limit = facts.requested, facts.limit
    if requested is None or limit is None or requested + (facts.lowest or 0) <= limit:
        return None
    much, total = format_bytes(requested), format_bytes(limit)
    if requested > limit:
        return Manner.TOO_BIG, f"one allocation of {much} is larger than all {total}"
    ever = format_bytes(limit - (facts.lowest or 0))
    return Manner.TOO_BIG, (
        f"one allocation of {much} is larger than what was ever free: {ever} of {total}"
    )


def _in_pieces(facts: Shortage) -> _Found | None:
    requested, free, largest = facts.requested, facts.free, facts.largest_free
    if requested is None or free is None or largest is None or not largest < requested <= free:
        return None
    if facts.leaks and free < SHORTAGE_POLICY.much_free * (facts.limit or 0):
        return None
    return Manner.FRAGMENTED, (
        f"{format_bytes(free)} was free, but only in pieces of up to {format_bytes(largest)}, and "
        f"the program asked for {format_bytes(requested)} in one piece"
    )


def _leak(facts: Shortage) -> _Found | None:
    growth = facts.growth
    if growth is None or not facts.leaks:
        return None
    unit = growth.unit or Unit(-1, "round")
    rate = format_bytes(growth.growth_bytes_per_unit or 0)
    grew = f"grew by {rate} in each {words.one(unit)}, {format_bytes(facts.grown)} in all"
    if _fits_without(facts):
        return Manner.LEAK, f"{_subject(growth)} {grew}, and filled what was free at the start"
    return Manner.TOO_BIG, (
        f"it would not fit even without the leak: {_subject(growth)} {grew}, which is less than "
        "what is missing"
    )


def _heap_in_pieces(facts: Shortage) -> _Found | None:
    growth = facts.growth
    if growth is None or growth.kind is not Kind.FRAGMENTED:
        return None
    return Manner.FRAGMENTED, growth.because


def _others(facts: Shortage) -> _Found | None:
    """The machine ran out, and it was not this program that had most of it."""
    peak, limit = facts.own_peak, facts.limit
    is_shared = facts.was_killed and facts.name == MACHINE
    if not is_shared or peak is None or limit is None or peak >= SHORTAGE_POLICY.own_part * limit:
        return None
    return Manner.INCONCLUSIVE, (
        f"the machine ran out of memory while this program had {format_bytes(peak)} of "
        f"{format_bytes(limit)}: other processes had the rest"
    )


def _free(facts: Shortage) -> _Found | None:
    """Much was free, and nobody knows how much was asked for."""
    if (
        facts.requested is not None
        or facts.was_killed
        or facts.free is None
        or facts.in_use is None
    ):
        return None
    if facts.free < SHORTAGE_POLICY.much_free * (facts.limit or 0):
        return None
    return Manner.INCONCLUSIVE, (
        f"the error does not say how much was asked for, and {format_bytes(facts.free)} was free"
    )


def _step(facts: Shortage) -> _Found | None:
    """The step needs more than is left beside what stays; it did so from the first round on."""
    demand = facts.demand
    if demand is None or facts.limit is None or facts.kept is None:
        return None
    stays = facts.kept - sum(facts.rises)
    is_large = demand >= SHORTAGE_POLICY.large_step * facts.limit
    if not is_large or stays + demand <= facts.limit:
        return None
    left = format_bytes(max(0, facts.limit - facts.kept))
    return Manner.TOO_BIG, (
        f"one step needs at least {format_bytes(demand)}, but only {left} is left beside the "
        f"{format_bytes(facts.kept)} that stays in use"
    )


def _level(facts: Shortage) -> _Found | None:
    growth = facts.growth
    if growth is None or growth.is_leak is not False:
        return None
    if growth.kind is Kind.CACHE:
        return Manner.TOO_BIG, "it fills up only once, but with more data than fits"
    rounds = words.counted(growth.units_seen, growth.unit) if growth.unit else "the rounds"
    return Manner.TOO_BIG, (
        f"{_subject(growth)} did not keep growing over {rounds}, so nothing leaks; the program "
        "needs more memory than there is"
    )


def _rising(facts: Shortage) -> _Found | None:
    if len(facts.rises) < SHORTAGE_POLICY.fewest_rises:
        return None
    each = format_bytes(sum(facts.rises) / len(facts.rises))
    return Manner.INCONCLUSIVE, (
        f"memory rose by about {each} in each of the last {len(facts.rises)} rounds, which may "
        "be a leak, or memory that fills up once: there are too few rounds to judge"
    )


def _climbing(facts: Shortage) -> _Found | None:
    if not facts.climbs:
        return None
    return Manner.INCONCLUSIVE, (
        "memory filled up step by step before the first round trip ended, so it is not clear "
        "whether it would have stopped"
    )


def _unwatched(facts: Shortage) -> _Found | None:
    if facts.has_rounds:
        return None
    return Manner.INCONCLUSIVE, "earlier memory use was not watched, so it may be a leak or too big"


def _unknown(facts: Shortage) -> _Found | None:
    if facts.limit is not None or facts.requested is not None or facts.growth is not None:
        return None
    return Manner.INCONCLUSIVE, "too little was recorded before memory ran out"


# In this order: what needs no history stands first.
_RULES: tuple[tuple[str, Callable[[Shortage], _Found | None]], ...] = (
    ("Is the allocation larger than what was ever free?", _alone),
    ("Was enough free, but in pieces that are too small?", _in_pieces),
    ("Did memory in use leak?", _leak),
    ("Is malloc's heap fragmented?", _heap_in_pieces),
    ("Did other processes have most of the machine's memory?", _others),
    ("Was much free, and the size of the allocation unknown?", _free),
    ("Does one step need more than the rest leaves free?", _step),
    ("Was memory in use level, or full like a cache?", _level),
    ("Did it rise in each of a few rounds?", _rising),
    ("Did it rise step by step before the first round trip ended?", _climbing),
    ("Was nothing watched before?", _unwatched),
    ("Is neither a limit, a size nor any growth known?", _unknown),
)


def _fits_without(facts: Shortage) -> bool:
    """Whether it would have fitted, had nothing leaked until then."""
    limit = facts.limit if facts.limit is not None else facts.highest
    if limit is None:
        return True
    if facts.in_use is not None and facts.requested is not None:
        return facts.in_use + facts.requested - facts.grown <= limit
    # It ended above the limit, nobody knows by how much: the leak has to explain most of the way.
    return facts.grown >= SHORTAGE_POLICY.leak_fills * (limit - (facts.early or facts.lowest or 0))


def _subject(verdict: Verdict) -> str:
    return "memory" if verdict.place == IN_HOST_POOL else words.memory_of(verdict.place)
