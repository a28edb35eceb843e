"""What one unit's verdict says about another's, by when both were there and how long they took."""

from dataclasses import dataclass

from lowwater.model import Kind, Unit, Verdict
from lowwater.model.policy import POLICY
from lowwater.verdict.case import CLOCK_UNIT


@dataclass(frozen=True, slots=True)
class Heard:
    """A verdict, its unit, when the unit was active, and what became resident meanwhile.

    `keeps_rising` says that memory rose in each of its rounds, be they too few for a verdict.
    """

    verdict: Verdict
    unit: Unit
    start_s: float
    end_s: float
    risen_bytes: int
    used_framework: bool
    keeps_rising: bool = False

    @property
    def span_s(self) -> float:
        """How long the unit was there."""
        return self.end_s - self.start_s

    @property
    def round_s(self) -> float:
        """How long one round takes."""
        return self.span_s / max(self.verdict.units_seen, 1)

    @property
    def acquits(self) -> bool:
        """Whether it is sure that there is no leak."""
        return self.verdict.is_leak is False

    def share_of(self, other: "Heard") -> float:
        """Which share of the other's time this one was there."""
        both = min(self.end_s, other.end_s) - max(self.start_s, other.start_s)
        return max(both, 0.0) / other.span_s if other.span_s > 0 else 1.0


def knows_better(other: Heard, one: Heard) -> bool:
    """Whether it saw as many rounds of the same memory at the same time, and acquits."""
    has_more = other.verdict.units_seen >= one.verdict.units_seen
    is_same = other.verdict.place == one.verdict.place and other.unit.name != CLOCK_UNIT
    is_clear = other.acquits and not _has_room(other.verdict, one.verdict)
    return is_clear and is_same and has_more and other.share_of(one) >= POLICY.covers


def saw_it_collected(other: Heard, one: Heard) -> bool:
    """Whether its rounds are the same, and it was still sampled when garbage was collected."""
    is_later = other.verdict.kind is Kind.SAWTOOTH and other.end_s > one.end_s
    return (
        is_later and other.round_s / POLICY.coarser <= one.round_s <= other.round_s * POLICY.coarser
    )


def falls_back_within(fine: Heard, coarse: Heard) -> bool:
    """Whether a coarser unit of the same time does not grow: then the finer one's growth goes."""
    if not coarse.acquits or coarse.unit.name == CLOCK_UNIT:
        return False
    is_coarser = coarse.verdict.units_seen * POLICY.coarser <= fine.verdict.units_seen
    is_same = coarse.verdict.place == fine.verdict.place
    covers = coarse.share_of(fine) >= POLICY.covers
    return is_coarser and is_same and covers and not _has_room(coarse.verdict, fine.verdict)


def _has_room(coarse: Verdict, fine: Verdict) -> bool:
    """Whether the fine unit's growth could hide in the coarse one's noise."""
    if coarse.kind not in (Kind.FLAT, Kind.RESERVED, Kind.FRAGMENTED, Kind.TRICKLE, Kind.WARM_UP):
        return False
    most = coarse.interval_bytes[1] if coarse.interval_bytes else 0
    grown = (fine.growth_bytes_per_unit or 0) * fine.units_seen
    return POLICY.alike * most * coarse.units_seen >= grown


def was_over_before(early: Heard, later: Heard) -> bool:
    """Whether this unit had ended when a later and longer part began that does not grow.

    Not where the framework was already at work: that was training, of whatever kind.
    """
    if not later.acquits or later.unit.name == CLOCK_UNIT or later.start_s < early.end_s:
        return False
    return not early.used_framework and later.span_s >= early.span_s


def outlasts(other: Heard, one: Heard) -> bool:
    """Whether its rounds are about as long, but more of them were seen: to a later end."""
    is_later = other.end_s > one.end_s and other.share_of(one) >= POLICY.covers
    has_more = other.verdict.units_seen >= POLICY.coarser * one.verdict.units_seen
    return is_later and has_more and one.round_s <= POLICY.coarser * other.round_s


def is_within(inner: Heard, outer: Heard) -> bool:
    """Whether it has many more rounds, and did not go on after the last ones of the outer."""
    goes_on = inner.end_s - outer.end_s > POLICY.alike * outer.round_s
    return inner.verdict.units_seen >= POLICY.coarser * outer.verdict.units_seen and not goes_on
