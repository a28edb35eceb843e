"""What should have died and lives, with all who hold it."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import FrameType
from typing import Any

from lowwater.agent.census.instances import kinds_that_refer_to
from lowwater.agent.census.kinds import qualname_of
from lowwater.giveback.holding import module_spaces, reached_from
from lowwater.giveback.living import MODEL, ORDER, Watched
from lowwater.giveback.parts import outermost
from lowwater.giveback.program_variables import Root, roots_now
from lowwater.giveback.receipt import Keeper, Survivor
from lowwater.giveback.trace import trace_of
from lowwater.giveback.ways import Way, Ways

_MOST_REFERRERS = 3
_GOES = "; nothing reads it again, and it is freed when the call returns"
_ANY_OTHER = "the program holds it in a place that was not searched"
_NOT_ALL_SEEN = (
    "there may be more holders than are named: the program has too many objects to search"
)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What is known of the variables of the program.

    Those of a `block` that has ended are named last: had nobody else held the object, it would
    have been emptied. Those that are `spared` are told with the reason. What is `going` only
    variables hold that nothing reads again. Nothing is a leak that nobody wanted to go.
    """

    block: Mapping[str, Any] = field(default_factory=dict)
    spared: Mapping[tuple[str, int], str] = field(default_factory=dict)
    going: Collection[int] = ()
    was_to_go: bool = True


def survivors(
    watched: Iterable[Watched],
    known: Circumstances = Circumstances(),  # noqa: B008 - it is frozen
    notes: list[str] | None = None,
) -> tuple[Survivor, ...]:
    """Each that lives, with its holders; what only another one of them holds is told by that."""
    waiting = {one.identity: one for one in _in_order(watched)}
    if not waiting:
        return ()
    roots = [_with_reason(root, known.spared) for root in roots_now()]
    of_block = {(name, id(value)) for name, value in known.block.items()}
    others = [root for root in roots if (root.name, id(root.value)) not in of_block]
    ways = _ways(waiting, others, notes)
    told = partial(_told, known=known)
    found = [told(one, ways[one.identity]) for one in _outer(waiting, ways)]
    if of_block and waiting:
        ways = _ways(waiting, roots, notes)
        found += [told(one, ways[one.identity]) for one in _outer(waiting, ways)]
    return (*found, *map(_unnamed, _outer(waiting)))


def _in_order(watched: Iterable[Watched]) -> list[Watched]:
    """Those that live: models first, and a model before those inside of it."""
    alive = [one for one in watched if one.is_alive]
    outer = {one.identity for one in outermost([one for one in alive if one.kind == MODEL])}
    ranks = {kind: rank for rank, kind in enumerate(ORDER)}
    alive.sort(key=lambda one: (one.identity not in outer, ranks.get(one.kind, -1)))
    return alive


def _ways(
    waiting: Mapping[int, Watched], roots: Sequence[Root], notes: list[str] | None
) -> dict[int, list[Way]]:
    """Who holds each of them without the help of another one."""
    walk = Ways(waiting, roots)
    found = _found(waiting, walk)
    if not walk.is_complete:
        if notes is not None and _NOT_ALL_SEEN not in notes:
            notes.append(_NOT_ALL_SEEN)
        # Again from the locals alone: the data of a module may have used up the first walk.
        of_locals = Ways(waiting, [root for root in roots if root.is_local])
        found = _found(waiting, of_locals) | found
    return found


def _found(waiting: Mapping[int, Watched], walk: Ways) -> dict[int, list[Way]]:
    ways = {identity: walk.to(one.reference()) for identity, one in waiting.items()}
    return {identity: those for identity, those in ways.items() if those}


def _outer(
    waiting: dict[int, Watched], ways: Mapping[int, list[Way]] | None = None
) -> Iterator[Watched]:
    """Those that have a way and are not told by another one; without ways, all that are left.

    What one of them reaches lives by it, and is told apart only if the program has it in hand
    besides, as the optimizer that it has given to a model. Neither is waited for any longer.
    """
    spaces = module_spaces()
    covered: set[int] = set()
    for identity, one in [*waiting.items()]:
        those = [] if ways is None else ways.get(identity, [])
        if ways is not None and not those:
            continue
        if identity not in covered or any(way.is_in_hand for way in those):
            covered |= reached_from([one.reference()], spaces) | {identity}
            yield one
    for identity in covered & waiting.keys():
        del waiting[identity]


def _told(one: Watched, ways: list[Way], known: Circumstances) -> Survivor:
    is_going = one.identity in known.going and all(way.root.is_local for way in ways)
    holders = [
        Keeper(
            way.root.held_by + (_GOES if is_going else ""),
            way.root.where,
            trace_of(one, way, was_to_go=known.was_to_go and not is_going),
        )
        for way in ways
    ]
    first = holders[0]
    return Survivor(one.what, first.held_by, first.where, first.trace, tuple(holders[1:]))


def _unnamed(one: Watched) -> Survivor:
    thing = one.reference()
    if thing is None:
        return Survivor(one.what, "it was freed during the search")
    kinds = {qualname_of(kind) for kind in kinds_that_refer_to(thing) if kind is not FrameType}
    told = ", ".join(sorted(kinds)[:_MOST_REFERRERS])
    return Survivor(one.what, f"held inside a library, by: {told}" if told else _ANY_OTHER)


def _with_reason(root: Root, spared: Mapping[tuple[str, int], str]) -> Root:
    why = spared.get((root.name, id(root.value)))
    return replace(root, held_by=f"`{root.name}` is {why}", needed=why) if why else root
