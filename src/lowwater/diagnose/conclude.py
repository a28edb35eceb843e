"""What experiments say together: which changes stop the growth, and which findings hold."""

from collections.abc import Sequence
from dataclasses import replace

from lowwater.model import Finding
from lowwater.model.experiment import (
    TOGETHER,
    Conclusion,
    Difference,
    Effect,
    Experiment,
    Measured,
    State,
)
from lowwater.model.policy import POLICY
from lowwater.model.units import format_growth

# With so much of the growth explained, what is left is not worth a sentence.
ENOUGH = 1 - POLICY.told_part
_ORDER = (State.CONFIRMED, State.UNTESTED, State.REJECTED)
_HELPS = frozenset({Effect.STOPS, Effect.LESS})
_NO_HELP = frozenset({Effect.SAME, Effect.MORE})
_NOT_MADE = frozenset({Effect.FAILED, Effect.UNTESTED})
_OVERLAP = "These overlap: together they explain more than 100 % of the growth."
_NOT_TRIED = "No change was tried (the table says why)."
_NOTHING = "No change stops the growth: none of the tested parts is the cause."
_UNTESTED = "No tested change stops the growth. The causes named in the findings were not tested."
_BOTH_HOLD = "A library leak that mend() repairs holds the same memory: fix both."
_NOT_WHO = "What keeps it in memory was not tested."
# A finding which says that the cause is not known has nothing to be confirmed.
_NOT_A_CAUSE = frozenset({"LW404"})
_ALL_FAILED = "No change could be tried: the program fails when it is run again"
_IN_THE_WAY = "Files that the first run wrote may be in the way: try --sandbox --fresh."


class _Shares:
    """What each change takes away, without what a more special one takes away as well."""

    def __init__(self, helpful: Sequence[Experiment]) -> None:
        self._wholes: dict[str, list[Experiment]] = {}
        for one in helpful:
            if not one.detail:
                self._wholes.setdefault(one.key, []).append(one)
        self._known: dict[int, float] = {}

    def of(self, one: Experiment) -> float:
        """Its own share; of two changes that cover each other, in a file from anywhere, an end."""
        if id(one) not in self._known:
            self._known[id(one)] = 0.0
            self._known[id(one)] = self._part(one) if one.detail else self._rest(one)
        return self._known[id(one)]

    def _part(self, one: Experiment) -> float:
        # A part that is larger than the rest of the whole is what was taken away before.
        whole = self._wholes.get(one.key)
        rest = self.of(whole[0]) if whole else 1.0
        return share_of(one) if share_of(one) <= rest + POLICY.told_part else 0.0

    def _rest(self, one: Experiment) -> float:
        keys = dict.fromkeys(one.covers)
        covered = [other for key in keys for other in self._wholes.get(key, ())]
        return max(0.0, share_of(one) - sum(self.of(other) for other in covered))


def helps(one: Experiment) -> bool:
    """Whether a real part of the growth goes with the change, or all that was left of it."""
    found = one.difference
    if found is None or found.effect not in _HELPS:
        return False
    # Less of anything makes less growth, whoever keeps it.
    if _is_only_less(one) and found.effect is not Effect.STOPS:
        return False
    return found.share >= POLICY.told_part or found.effect is Effect.STOPS


def has_failed(one: Experiment) -> bool:
    """Whether the program cannot be run with the change, or the change could not be made."""
    return one.difference is not None and one.difference.effect in _NOT_MADE


def _is_only_less(one: Experiment) -> bool:
    """Whether a change makes less, and no finding says that too much is made."""
    return one.is_amount and not one.is_suspected


def needs_a_partner(one: Experiment) -> bool:
    """Whether a change has taken away little: something else may hold the same."""
    found = one.difference
    if found is None or one.detail:
        return False
    return found.effect in _NO_HELP or (
        found.effect is Effect.LESS and found.share < POLICY.needs_partner
    )


def is_explained(experiments: Sequence[Experiment]) -> bool:
    """Whether the changes so far account for the growth: one stops it, or several together."""
    tried = _telling([one for one in experiments if one.difference is not None])
    whole = _without_singles([one for one in tried if helps(one) and not one.detail])
    shares = _Shares(whole)
    return sum(map(shares.of, whole)) >= ENOUGH


def still_leaks(experiments: Sequence[Experiment]) -> bool:
    """Whether a change takes nearly all away, and leaves a small leak.

    Two that take a half each leave one as well: the other half.
    """
    helpful = [one for one in experiments if helps(one)]
    is_small = any(share_of(one) >= ENOUGH for one in helpful)
    return is_small and all(one.measured is not None and one.measured.leaks for one in helpful)


def conclude(experiments: Sequence[Experiment], findings: Sequence[Finding]) -> Conclusion:
    """The causes that were found, largest first, and what became of the findings."""
    tried = _telling([one for one in experiments if one.difference is not None])
    states = _states(findings, tried)
    helpful = _without_side_effects([one for one in tried if helps(one)])
    if not helpful:
        return Conclusion(_why_nothing(tried, states), states)
    shares = _Shares(helpful)
    special = _most_special(helpful)
    told = sorted((one for one in special if _is_told(one, shares.of(one))), key=shares.of)
    sentences = [_sentence(one, shares.of(one)) for one in reversed(told)]
    explained = _explained(told, helpful, shares)
    sentences += [_BOTH_HOLD] if any(one.together and one.detail for one in told) else []
    sentences += _about_sum(explained) or _about_rest(helpful)
    return Conclusion(tuple(sentences), states)


def _telling(tried: list[Experiment]) -> list[Experiment]:
    """Without pairs of changes that do no more than one of the two alone."""
    alone: dict[str, float] = {}
    for one in tried:
        if not one.together and not one.detail and helps(one):
            alone[one.key] = max(alone.get(one.key, 0.0), share_of(one))

    def tells_more(pair: Experiment) -> bool:
        most = max(alone.get(key, 0.0) for key in pair.together)
        return share_of(pair) >= most + POLICY.told_part

    pairs = {one.together for one in tried if one.together and not one.detail and tells_more(one)}
    told = [one for one in tried if not one.together or one.together in pairs]
    # A partner that helps alone holds something else: each is told with its own share.
    apart = {pair for pair in pairs if alone.get(pair[1], 0.0) >= POLICY.told_part}
    better = {pair[0] for pair in apart}
    told = [one for one in told if one.together or one.key not in better]
    return [_apart(one, alone[one.together[1]]) if one.together in apart else one for one in told]


def _apart(pair: Experiment, partner_share: float) -> Experiment:
    """What a change takes away beyond its partner."""
    share = max(0.0, share_of(pair) - partner_share)
    blamed = pair.blamed.partition(TOGETHER)[0]
    difference = Difference(Effect.LESS, share)
    return replace(pair, together=(), codes=(), blamed=blamed, difference=difference)


def _without_singles(helpful: Sequence[Experiment]) -> list[Experiment]:
    """Two that hold the same are told as two: what each alone has let go is a part of that."""
    alone = {key for one in helpful if one.together for key in one.together}
    return [one for one in helpful if one.together or one.key not in alone]


def _is_part_of(one: Experiment, other: Experiment) -> bool:
    """Whether one finding was asked, and the other takes away all that is of its kind."""
    codes = {finding.partition(" ")[0] for finding in one.tests}
    return bool(codes) and codes <= {*other.codes} and share_of(one) < share_of(other)


def _without_side_effects(helpful: list[Experiment]) -> list[Experiment]:
    """Where one line explains it all, what is added there is only smaller with other changes.

    A batch that is repeated is kept once, however often it is added to a list.
    """
    exact = [one for one in helpful if len(one.places) == 1 and share_of(one) >= ENOUGH]
    covered = {key for one in exact for key in one.covers}
    helpful = [one for one in helpful if one.key not in covered or share_of(one) >= ENOUGH]
    helpful = _without_singles(helpful)
    # All that is traced too often is more than what one cache of it has let go.
    made = [one for one in helpful if one.is_amount and one.is_suspected]
    return [one for one in helpful if not any(_is_part_of(one, other) for other in made)]


def _why_nothing(
    tried: Sequence[Experiment], states: Sequence[tuple[Finding, State]]
) -> tuple[str, ...]:
    """A change with which the program fails is none that was tried."""
    if not tried:
        return (_NOT_TRIED,)
    if not all(has_failed(one) for one in tried):
        named = [state for finding, state in states if finding.code not in _NOT_A_CAUSE]
        return (_UNTESTED if State.UNTESTED in named else _NOTHING,)
    failed = [one for one in tried if one.difference and one.difference.effect is Effect.FAILED]
    reasons = {one.difference.because for one in failed if one.difference is not None}
    if not reasons:
        return (_NOT_TRIED,)
    if len(failed) == 1 or len(reasons) > 1:
        return ("No change could be tried: the program fails with each of them.",)
    # Different changes do not break a program in one and the same way: it is the second run.
    return (f"{_ALL_FAILED} ({reasons.pop()}).", _IN_THE_WAY)


def _is_told(one: Experiment, share: float) -> bool:
    """Not what is within the noise; a small rest that stops is beyond it."""
    is_rest = one.difference is not None and one.difference.effect is Effect.STOPS
    return share >= POLICY.told_part or (is_rest and 0 < share_of(one) < POLICY.told_part)


def _most_special(helpful: list[Experiment]) -> list[Experiment]:
    """One callback is told in the place of all of them."""
    narrowed = {one.key for one in helpful if one.detail}
    return [one for one in helpful if one.detail or one.key not in narrowed]


def _explained(told: Sequence[Experiment], helpful: Sequence[Experiment], shares: _Shares) -> float:
    """All that is told; a whole may take away more than its parts that stand out of the noise."""
    by_key: dict[str, float] = {}
    for one in told:
        by_key[one.key] = by_key.get(one.key, 0.0) + shares.of(one)
    for whole in helpful:
        if whole.key in by_key and not whole.detail:
            by_key[whole.key] = max(by_key[whole.key], shares.of(whole))
    return sum(by_key.values())


def _about_sum(share: float) -> list[str]:
    if share > 1 + POLICY.experiment_rest:
        return [_OVERLAP]
    rest = 1 - share
    return [f"The other {round(100 * rest)} % is not explained."] if rest > POLICY.told_part else []


def _about_rest(helpful: Sequence[Experiment]) -> list[str]:
    """A leak that is small beside the first is one all the same."""
    least = min(helpful, key=lambda one: (one.measured or Measured()).growth_bytes or 0)
    left = least.measured
    if left is None or not left.leaks or not left.growth_bytes or share_of(least) < ENOUGH:
        return []
    growth = format_growth(left.growth_bytes)
    return [f"A smaller leak remains: {growth} per {left.unit}."]


def _sentence(one: Experiment, share: float) -> str:
    """What is blamed, and what was done to know it."""
    if _is_only_less(one):
        return f"The growing memory comes from {one.blamed}. {_NOT_WHO}"
    what = f"{one.blamed[:1].upper()}{one.blamed[1:]}"
    without, percent = one.how or "without it", f"{max(1, round(100 * share))} %"
    if share >= ENOUGH:
        return f"{what} is the cause: {without}, the growth is gone ({percent})."
    return f"{what} is part of the cause: {without}, {percent} of the growth is gone."


def share_of(one: Experiment) -> float:
    """Which part of the growth goes with a change."""
    return one.difference.share if one.difference is not None else 0.0


def _states(
    findings: Sequence[Finding], tried: Sequence[Experiment]
) -> tuple[tuple[Finding, State], ...]:
    """Those that were confirmed come first, then as they are ranked."""
    states = [(finding, _state(finding, tried)) for finding in findings]
    return tuple(sorted(states, key=lambda told: _ORDER.index(told[1])))


def _state(finding: Finding, tried: Sequence[Experiment]) -> State:
    if finding.code in _NOT_A_CAUSE:
        return State.UNTESTED
    if _is_shown(finding, tried):
        return State.CONFIRMED
    if any(helps(one) for one in tried if _is_about(finding, one)):
        return State.CONFIRMED
    # Only a change that surely takes the cause away can speak against it.
    against = [one for one in tried if not one.detail and finding.code in one.rejects]
    if any(one.difference and one.difference.effect in _NO_HELP for one in against):
        return State.REJECTED
    # What holds all of the growth was filled by what all of the growth goes with.
    holds_all = (finding.share or 0.0) >= POLICY.finding_is_all
    # Unless it was asked itself: then that counts.
    was_asked = any(finding.identity in one.tests and not has_failed(one) for one in tried)
    is_gone = not was_asked and any(
        share_of(one) >= ENOUGH for one in tried if helps(one) and not one.is_amount
    )
    return State.CONFIRMED if holds_all and is_gone else State.UNTESTED


def _is_shown(finding: Finding, tried: Sequence[Experiment]) -> bool:
    """Whether it was made to let go, alone or with others that hold the same, and that helped."""
    asked = [one for one in tried if finding.identity in one.tests and helps(one)]
    if any(len(one.tests) == 1 for one in asked):
        return True
    parts = [one for one in tried if one.detail and one.tests]
    was_tried_alone = any(finding.identity in one.tests for one in parts)
    others = sum(share_of(one) for one in parts if helps(one))
    # What none of them lets go alone, they hold together.
    return was_tried_alone and any(share_of(one) - others >= POLICY.told_part for one in asked)


def _is_about(finding: Finding, one: Experiment) -> bool:
    """Whether a change has taken away what was found: its line, or all of its kind."""
    if one.tests or (one.is_amount and finding.code not in one.codes):
        # What was made for single findings speaks of these alone, but for its partner.
        return finding.code in one.codes and bool(one.together)
    if any(_is_within(finding.where, place) for place in one.places):
        return True
    return finding.code in one.codes and not one.detail


def _is_within(where: str | None, place: str) -> bool:
    """Whether `train.py:14` lies in `train.py:7-19`."""
    file, _, line = (where or "").rpartition(":")
    holder, _, lines = place.rpartition(":")
    first, _, last = lines.partition("-")
    if file != holder or not (line.isdigit() and first.isdigit()):
        return False
    return int(first) <= int(line) <= int(last or first)
