"""What experiments say together: which changes stop the growth, and which findings hold."""

from collections.abc import Sequence

from lowwater.experiment import Conclusion, Effect, Experiment, State
from lowwater.model import Finding

# Less than this of the growth is not worth a sentence.
_LEAST_SHARE = 0.1
# With so much of it explained, nothing is left to look for.
_ENOUGH = 0.9
_HELPS = frozenset({Effect.STOPS, Effect.LESS})
_CERTAIN = _HELPS | {Effect.SAME, Effect.MORE}
# Shares that are measured apart add up to a little more or less than all.
_ALL = 1.15
_OVERLAP = "They act on the same growth: together they are more than all of it."
_NOTHING = "No change stops the growth: its cause is none of those that were tried."


def helps(one: Experiment) -> bool:
    """Whether a real part of the growth goes with the change."""
    found = one.difference
    return found is not None and found.effect in _HELPS and found.share >= _LEAST_SHARE


def has_failed(one: Experiment) -> bool:
    """Whether the program cannot be run with the change."""
    return one.difference is not None and one.difference.effect is Effect.FAILED


def is_explained(experiments: Sequence[Experiment]) -> bool:
    """Whether the changes so far account for the growth: one stops it, or several together."""
    whole = [one for one in experiments if helps(one) and not one.detail]
    return sum(_own_share(one, whole) for one in whole) >= _ENOUGH


def conclude(experiments: Sequence[Experiment], findings: Sequence[Finding]) -> Conclusion:
    """The causes that were found, largest first, and what became of the findings."""
    tried = [one for one in experiments if one.difference is not None]
    states = tuple((finding, _state(finding, tried)) for finding in findings)
    helpful = _most_special([one for one in tried if helps(one)])
    if not helpful:
        return Conclusion((_NOTHING,) if tried else (), states)
    shares = {one: _own_share(one, helpful) for one in helpful}
    told = sorted((one for one in helpful if shares[one] >= _LEAST_SHARE), key=shares.__getitem__)
    sentences = [_sentence(one, shares[one]) for one in reversed(told)]
    overlap = [_OVERLAP] if sum(shares[one] for one in told) > _ALL else []
    return Conclusion((*sentences, *overlap), states)


def _most_special(helpful: list[Experiment]) -> list[Experiment]:
    """One callback is told in the place of all of them."""
    narrowed = {one.key for one in helpful if one.detail}
    return [one for one in helpful if one.detail or one.key not in narrowed]


def _sentence(one: Experiment, share: float) -> str:
    what = f"{one.blamed[:1].upper()}{one.blamed[1:]}"
    return f"{what} causes it: {round(100 * share)} % of the growth goes when it is left out."


def _own_share(one: Experiment, helpful: Sequence[Experiment]) -> float:
    """Without what a more special change takes away as well."""
    covered = [_share(other) for other in helpful if other.key in one.covers]
    return max(0.0, _share(one) - max(covered, default=0.0))


def _share(one: Experiment) -> float:
    return one.difference.share if one.difference is not None else 0.0


def _state(finding: Finding, tried: Sequence[Experiment]) -> State:
    about = [one for one in tried if finding.code in one.codes and not one.detail]
    certain = [one for one in about if one.difference and one.difference.effect in _CERTAIN]
    if not certain:
        return State.UNTESTED
    return State.CONFIRMED if any(map(helps, certain)) else State.REJECTED
