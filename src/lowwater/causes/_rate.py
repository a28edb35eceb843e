"""How fast something grew, in round trips of the verdict's unit."""

from dataclasses import dataclass
from typing import Self

from lowwater.model import Evidence, Unit

NO_UNIT = Unit(id=-1, name="round")
# 0.98 or 1.02 items per epoch is one: a census may fall into the middle of a round.
_WHOLE = 0.06
# From here on the nearest whole number may be another one.
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class GrowthRate:
    """So many in each round trip; `doubt` is by how much this may be off."""

    each: float
    doubt: float = 0.0

    @classmethod
    def of(cls, counts: tuple[int, ...], evidence: Evidence) -> Self | None:
        """The rate between the first and the last census; None where it cannot be known."""
        unit = evidence.verdict.unit or NO_UNIT
        known = [
            (census, ordinal, count)
            for census, count in zip(evidence.censuses, counts, strict=False)
            if (ordinal := census.ordinal_of(unit)) is not None
        ]
        if not known or known[-1][1] <= known[0][1]:
            return None
        (first, start, low), (last, end, high) = known[0], known[-1]
        each = (high - low) / (end - start)
        # Between two boundaries of the unit it has done a part of a round that nobody counts.
        is_exact = first.unit_id == last.unit_id == unit.id
        return cls(each, 0.0 if is_exact else abs(each) / (end - start))

    @property
    def about(self) -> str:
        """`about ` where the number is not exact."""
        off = abs(self.each - round(self.each))
        is_whole = off <= _WHOLE * max(1.0, self.each) and self.doubt < _HALF
        return "" if is_whole else "about "

    @property
    def is_seldom(self) -> bool:
        """Whether several round trips pass for each."""
        return self.each < 1 - _WHOLE
