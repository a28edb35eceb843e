"""Whether a change has made a difference, or only noise."""

from lowwater.model import Kind
from lowwater.model.experiment import Difference, Effect, Measured
from lowwater.model.policy import POLICY

_NO_LEAK = frozenset(
    {Kind.CACHE, Kind.RESERVED, Kind.WARM_UP, Kind.SAWTOOTH, Kind.TRICKLE, Kind.FLAT}
)
_TOO_FEW = Difference(Effect.UNCLEAR, because="too few rounds to judge")
_TOO_NOISY = Difference(Effect.UNCLEAR, because="too noisy to judge")


def compare(base: Measured, changed: Measured) -> Difference:
    """The effect is real where the intervals of the two growths are apart."""
    if changed.problem:
        return Difference(Effect.FAILED, because=changed.problem)
    if changed.not_made:
        return Difference(Effect.UNTESTED, because=changed.not_made)
    if not base.growth_bytes or changed.growth_bytes is None:
        return _TOO_FEW
    share = 1 - changed.growth_bytes / base.growth_bytes
    is_garbage = changed.kind is Kind.SAWTOOTH
    rest = POLICY.experiment_garbage if is_garbage else POLICY.experiment_rest
    # Garbage that comes and goes may hide a growth of any size.
    is_vague = not is_garbage and _interval(changed)[0] <= rest * base.growth_bytes
    has_stopped = share > 1 - rest or is_vague
    # What was judged to be no leak may still have a slope, of one jump, that means nothing.
    if changed.kind in _NO_LEAK and has_stopped:
        return Difference(Effect.STOPS, 1.0)
    if changed.kind is Kind.FRAGMENTED and share > 1 - POLICY.experiment_rest:
        return Difference(Effect.STOPS, 1.0)
    return _apart(base, changed, share)


def _apart(base: Measured, changed: Measured, share: float) -> Difference:
    before, after = _interval(base), _interval(changed)
    if after[1] < before[0]:
        return Difference(Effect.LESS, min(share, 1.0))
    if changed.kind is Kind.INCONCLUSIVE:
        return _TOO_FEW
    if changed.left_out:
        # What was left as it is may be what grows.
        return Difference(Effect.UNCLEAR, because=changed.left_out)
    if after[0] > before[1]:
        return Difference(Effect.MORE, share)
    # A part that is worth a sentence, and hides in the noise, is not acquitted.
    is_all_there = (
        after[0] >= POLICY.all_there * (base.growth_bytes or 0) and share < POLICY.told_part
    )
    return Difference(Effect.SAME, share) if is_all_there else _TOO_NOISY


def _interval(one: Measured) -> tuple[int, int]:
    growth = one.growth_bytes or 0
    low, high = one.interval_bytes or (growth, growth)
    slack = round(POLICY.experiment_slack * abs(growth))
    return min(low, growth - slack), max(high, growth + slack)
