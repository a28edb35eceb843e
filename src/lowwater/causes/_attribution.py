"""Shares out the growth among causes: paths first, then what no Python object accounts for.

Every path goes to the first cause that claims it. Paths of one cause at one place are one
finding. A path that would tell the reader nothing, no line, no name and no class, is nobody's.
The rest of the growth is native memory: it goes to the findings whose objects are backed by
native memory, in proportion, and then to the causes whose tallies explain it; to each no more
than what it has found can have taken.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from math import inf

from lowwater.causes import _kinds
from lowwater.causes._cause import Cause, Claim
from lowwater.causes._fingerprint import digest, fingerprint
from lowwater.causes._growth import growth_bytes, unexplained_bytes
from lowwater.causes._paths import below, is_programs, leads_to_native
from lowwater.causes._trace import draw_trace
from lowwater.model import Evidence, Finding, Holder, Kind
from lowwater.model.policy import POLICY

_FEWEST_CENSUSES = 2
# A graph or a model has at least this much of a Python side. An item with less, such as one that
# only mentions the model that was there before, has not brought native memory along.
_LEAST_PYTHON_SIDE = 16 << 10
# And the native side of a graph, a function or a model is not just any number of times as large:
# in all recordings at most 17 times, for the operations of a v1 graph.
_MOST_NATIVE = 25
_OUTSIDE = "Most of that memory is outside Python objects and is freed with them."
_SHARED = "Something else holds the same objects: they are freed only when every holder drops them."


@dataclass(frozen=True, slots=True)
class _Claim:
    """One finding to be: a cause, what it tells, and the growth that it accounts for."""

    cause: Cause
    account: Claim
    grown_bytes: float
    holder: Holder | None = None
    # What it can have taken at the most, with the native memory that goes with what was found.
    most_bytes: float = 0.0
    # Those of the claims that were joined to it.
    other_holders: tuple[Holder, ...] = ()

    @property
    def place(self) -> tuple[str, str | None]:
        """Claims at one place are one finding; a library has one place for each of its leaks."""
        if self.cause.known is not None:
            return self.cause.code, None
        return self.cause.code, self.account.where or self.account.holder

    @property
    def has_native_side(self) -> bool:
        """Whether it can have taken more than its Python objects."""
        return self.most_bytes > self.grown_bytes

    @property
    def rank(self) -> float:
        """The weight by which findings are ordered."""
        return self.grown_bytes * (POLICY.library_weight if self.cause.known else 1)


def attribute(evidence: Evidence, causes: tuple[Cause, ...]) -> tuple[Finding, ...]:
    """All findings on a run, those that explain most first."""
    if evidence.verdict.kind is not Kind.LEAK:
        return tuple(_explanations(evidence, causes))
    if len(evidence.censuses) < _FEWEST_CENSUSES:
        return ()
    claims = _merged(_claimed(evidence, causes))
    claimed = sum(claim.grown_bytes for claim in claims)
    # Sizes are estimates, so what is claimed may add up to more than the growth. What nobody
    # claims may not: a path of a library that is reached in another way seems to have grown.
    total = max(growth_bytes(evidence), claimed)
    if total <= 0:
        return ()
    # What a library holds and nobody knows is nobody's either.
    unclaimed = sum(holder.grown_bytes for holder in evidence.holders) - claimed
    rest = min(total - claimed, unexplained_bytes(evidence) + max(0, unclaimed))
    claims = _merged(_with_rest(claims, rest, total, evidence, causes))
    ranked = sorted(claims, key=lambda claim: claim.rank, reverse=True)
    told = [claim for claim in ranked if claim.grown_bytes >= POLICY.least_share * total] or ranked[
        :1
    ]
    findings = [_finding(claim, claim.grown_bytes / total, evidence) for claim in told]
    return (*findings, *_beside(findings, evidence, causes))


def why_nothing_is_found(evidence: Evidence) -> str:
    """The reason why a leak has no cause."""
    looks = len(evidence.censuses)
    if looks >= _FEWEST_CENSUSES and growth_bytes(evidence) <= 0:
        return "no cause found: memory in use did not grow between two heap scans"
    if looks >= _FEWEST_CENSUSES:
        return (
            "no cause found: no line or name in the program leads to what grew; try `lowwater "
            "diagnose`"
        )
    looked = "made one heap scan" if looks else "made no heap scan"
    return (
        f"no cause found: Lowwater {looked}, but needs two to see what grows; try `lowwater "
        "diagnose`"
    )


def _beside(
    findings: list[Finding], evidence: Evidence, causes: tuple[Cause, ...]
) -> Iterator[Finding]:
    """Second holders of memory that has been shared out already: they have no share of it left."""
    codes = frozenset(finding.code for finding in findings)
    for cause in causes:
        account = cause.beside(codes, evidence)
        if account is not None:
            yield _told(cause, account)


def _explanations(evidence: Evidence, causes: tuple[Cause, ...]) -> Iterator[Finding]:
    """What a user saw in a run that does not leak; nobody is accused, so nobody has a share."""
    for cause in sorted(causes, key=lambda one: one.explains is not evidence.verdict.kind):
        account = cause.in_verdict(evidence)
        if account is not None:
            yield _told(cause, account)


def _grown(evidence: Evidence) -> Iterator[Holder]:
    """Paths that grew; a recording may come from anywhere, so what has no shape is left out."""
    for holder in evidence.holders:
        is_whole = 0 <= holder.container < len(holder.steps) and holder.counts
        if is_whole and holder.sizes_bytes and holder.grown_bytes > 0:
            yield holder


def _claimed(evidence: Evidence, causes: tuple[Cause, ...]) -> Iterator[_Claim]:
    for holder in _grown(evidence):
        cause = next((one for one in causes if one.claims(holder, evidence)), None)
        # What the library holds and nobody knows is part of the rest.
        account = cause.account(holder, evidence) if cause is not None else None
        if cause is not None and account is not None and _helps(cause, account, holder):
            most_bytes = holder.grown_bytes * _most_times(cause, holder, evidence)
            yield _Claim(cause, account, holder.grown_bytes, holder, most_bytes)


def _helps(cause: Cause, account: Claim, holder: Holder) -> bool:
    """Whether a reader could do anything about it: "`module` grows by 14 items" helps nobody."""
    has_class = any("." in step.type.removeprefix("builtins.") for step in below(holder)[:1])
    is_placed = account.where is not None or is_programs(holder)
    return cause.known is not None or is_placed or has_class


def _most_times(cause: Cause, holder: Holder, evidence: Evidence) -> float:
    """How many times its Python side all that is on this path can have taken."""
    if not (cause.is_mostly_native or leads_to_native(holder)):
        return 1
    items = max(1, holder.counts[-1] - holder.counts[0])
    is_heavy = holder.grown_bytes >= _LEAST_PYTHON_SIDE * items
    # Unless the items themselves are such things: a tape is small, whatever it has recorded.
    is_direct = any(_kinds.is_native_alone(step) for step in below(holder)[:1])
    # Nor has it a bound where ever more such things were counted.
    if is_direct or cause.in_rest(unexplained_bytes(evidence), evidence) is not None:
        return inf
    return _MOST_NATIVE if is_heavy else 1


def _merged(claims: Iterable[_Claim]) -> list[_Claim]:
    """One claim per place; the heaviest of them does the telling."""
    by_place: dict[tuple[str, str | None], _Claim] = {}
    for claim in sorted(claims, key=lambda one: one.grown_bytes, reverse=True):
        found = by_place.get(claim.place)
        by_place[claim.place] = _joined(found, claim) if found else claim
    return list(by_place.values())


def _joined(first: _Claim, second: _Claim) -> _Claim:
    others = (*first.other_holders, *((second.holder,) if second.holder else ()))
    return replace(
        first,
        grown_bytes=first.grown_bytes + second.grown_bytes,
        most_bytes=first.most_bytes + second.most_bytes,
        other_holders=others,
    )


def _with_rest(
    claims: list[_Claim], rest: float, total: float, evidence: Evidence, causes: tuple[Cause, ...]
) -> list[_Claim]:
    """The claims, with the growth that no path accounts for given to whom it belongs."""
    if rest < POLICY.least_share * total:
        return claims
    claims, rest = _given(claims, rest, lambda claim: claim.has_native_side)
    claims, rest = _given(claims, rest, lambda claim: claim.most_bytes == inf)
    return [*claims, *_of_rest(rest, POLICY.least_share * total, evidence, causes)]


def _given(
    claims: list[_Claim], rest: float, may_take: Callable[[_Claim], bool]
) -> tuple[list[_Claim], float]:
    """The rest in proportion to those that may take of it, and what is left then."""
    python_side = sum(claim.grown_bytes for claim in claims if may_take(claim))
    if python_side <= 0 or rest <= 0:
        return claims, rest
    times = 1 + rest / python_side
    given = [_grown_by(claim, times) if may_take(claim) else claim for claim in claims]
    taken = sum(claim.grown_bytes for claim in given) - sum(claim.grown_bytes for claim in claims)
    return given, rest - taken


def _of_rest(
    rest: float, least: float, evidence: Evidence, causes: tuple[Cause, ...]
) -> Iterator[_Claim]:
    """One cause after the other takes what it can have taken, until next to nothing is left."""
    for cause in causes:
        account = cause.in_rest(round(rest), evidence) if rest >= least else None
        if account is not None:
            part = rest if account.most_bytes is None else min(rest, account.most_bytes)
            yield _Claim(cause, account, part)
            rest -= part


def _grown_by(claim: _Claim, times: float) -> _Claim:
    return replace(claim, grown_bytes=min(claim.most_bytes, claim.grown_bytes * times))


def _finding(claim: _Claim, share: float, evidence: Evidence) -> Finding:
    found = replace(_told(claim.cause, claim.account), share=min(1.0, round(share, 4)))
    per_unit = evidence.verdict.growth_bytes_per_unit
    if per_unit is not None:
        found = replace(found, bytes_per_unit=round(share * per_unit))
    if claim.holder is None:
        return found
    holders = (claim.holder, *claim.other_holders)
    paths = (one.steps[: one.container + 1] for one in holders)
    found = replace(found, trace=draw_trace(claim.holder, evidence), paths=tuple(paths))
    in_python = sum(one.grown_bytes for one in holders)
    # What is mostly native says so itself.
    if not claim.cause.is_mostly_native and claim.grown_bytes >= POLICY.alike * in_python:
        found = replace(found, story=f"{found.story} {_OUTSIDE}")
    if claim.holder.is_shared:
        found = replace(found, story=f"{found.story} {_SHARED}")
    if claim.cause.known is not None:
        return found
    return replace(found, fingerprint=fingerprint(claim.cause.code, claim.holder, evidence))


def _told(cause: Cause, account: Claim) -> Finding:
    """The finding without what depends on the path.

    A leak of a library, and growth that has no path, are known by their code and holder.
    """
    known = cause.known
    issue = (account.issue or known.issue) if known else None
    return Finding(
        code=cause.code,
        name=cause.name,
        story=account.message,
        fix=account.fix or cause.fix,
        where=account.where,
        holder=account.holder,
        library=known.library if known else None,
        upstream=known.reported_as(issue) if known else "",
        issue=issue,
        fingerprint=digest(cause.code, known.library if known else account.holder or ""),
    )
