"""Which changes come first."""

from collections.abc import Sequence

from lowwater.diagnose.factors import Factor
from lowwater.diagnose.facts import Facts
from lowwater.model import Finding
from lowwater.model.experiment import Measured


def in_order(
    factors: Sequence[Factor], base: Measured, findings: Sequence[Finding], facts: Facts
) -> list[Factor]:
    """Those that the findings of the first run speak for, then the others in their own order.

    What names a culprit better comes before what only shows the same growth.
    """
    codes = [finding.code for finding in findings]
    suited = [
        one
        for one in factors
        if (one.is_about_holes if not base.leaks else not one.is_only_about_holes)
    ]

    def rank(factor: Factor) -> int:
        known = [codes.index(code) for code in factor.codes_in(facts) if code in codes]
        return min(known, default=len(codes))

    applying = [one for one in suited if one.why_not(facts) is None]

    def with_later(factor: Factor) -> int:
        later = (with_later(other) for other in applying if factor.key in other.after)
        return min(rank(factor), *later, len(codes))

    return sorted(suited, key=with_later)


def is_suspected(factor: Factor, facts: Facts) -> bool:
    """Whether a finding speaks for it."""
    return bool({*factor.codes_in(facts)} & {*facts.found})


def partners(suspects: Sequence[Factor], facts: Facts) -> list[Factor]:
    """The first two that speak for different findings: each may hold what the other lets go."""
    codes = {*facts.found}
    for first in suspects:
        for second in suspects:
            one, other = codes & {*first.codes_in(facts)}, codes & {*second.codes_in(facts)}
            if one - other and other - one:
                return [first, second]
    return []
