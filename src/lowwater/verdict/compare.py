"""Whether a change has made a difference, or only noise."""

from lowwater.experiment import Difference, Effect, Measured
from lowwater.model import Kind

# A rest of the growth below this share is noise of the measurement.
_REST = 0.15
# The growth of two runs of the same program differs by so much anyway.
_SLACK = 0.05
_TOO_FEW = Difference(Effect.UNCLEAR, because="too few rounds to tell")


def compare(base: Measured, changed: Measured) -> Difference:
    """The effect is real where the intervals of the two growths are apart."""
    if changed.problem:
        return Difference(Effect.FAILED, because=changed.problem)
    if not base.growth_bytes or changed.growth_bytes is None:
        return _TOO_FEW
    share = 1 - changed.growth_bytes / base.growth_bytes
    if changed.kind not in {Kind.LEAK, Kind.INCONCLUSIVE} and share > 1 - _REST:
        return Difference(Effect.STOPS, 1.0)
    return _apart(_interval(base), _interval(changed), share, changed)


def _apart(
    base: tuple[int, int], changed: tuple[int, int], share: float, measured: Measured
) -> Difference:
    if changed[1] < base[0]:
        return Difference(Effect.LESS, min(share, 1.0))
    if changed[0] > base[1]:
        return Difference(Effect.MORE, share)
    return _TOO_FEW if measured.kind is Kind.INCONCLUSIVE else Difference(Effect.SAME, share)


def _interval(one: Measured) -> tuple[int, int]:
    growth = one.growth_bytes or 0
    low, high = one.interval_bytes or (growth, growth)
    slack = round(_SLACK * abs(growth))
    return min(low, growth - slack), max(high, growth + slack)
