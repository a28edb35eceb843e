"""Whether a change has made a difference, or only noise."""

from lowwater.model import Kind
from lowwater.model.experiment import Difference, Effect, Measured

# A rest of the growth below this share is noise of the measurement.
_REST = 0.15
# What the last models leave that wait for the collector is more than that.
_REST_OF_GARBAGE = 0.3
# The growth of two runs of the same program differs by so much anyway.
_SLACK = 0.05
# An interval that begins below this share of the growth does not say that it is all there.
_MOST = 0.5
# A smaller part of the growth is not worth a sentence.
_LEAST_SHARE = 0.1
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
    rest = _REST_OF_GARBAGE if changed.kind is Kind.SAWTOOTH else _REST
    # Garbage that comes and goes may hide a growth of any size.
    is_vague = changed.kind is not Kind.SAWTOOTH and (
        _interval(changed)[0] <= _REST * base.growth_bytes
    )
    has_stopped = share > 1 - rest or is_vague
    # What was judged to be no leak may still have a slope, of one jump, that means nothing.
    if changed.kind in _NO_LEAK and has_stopped:
        return Difference(Effect.STOPS, 1.0)
    if changed.kind is Kind.FRAGMENTED and share > 1 - _REST:
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
    is_all_there = after[0] >= _MOST * (base.growth_bytes or 0) and share < _LEAST_SHARE
    return Difference(Effect.SAME, share) if is_all_there else _TOO_NOISY


def _interval(one: Measured) -> tuple[int, int]:
    growth = one.growth_bytes or 0
    low, high = one.interval_bytes or (growth, growth)
    slack = round(_SLACK * abs(growth))
    return min(low, growth - slack), max(high, growth + slack)
