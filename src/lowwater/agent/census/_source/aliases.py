"""Which names of a program stand for the same container."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from lowwater.agent.census._source.additions import Addition, Flow, Spot
from lowwater.agent.census._source.names import Names, Slot
from lowwater.agent.census._source.scopes import Scope

# A container that is handed on more often than this is too far from its line to be told.
_MOST_ORIGINS = 2
_MOST_COPIES = 3
# A container with more names than these is everybody's, and no line is more to blame than others.
_MOST_NAMES = 40

# How surely two slots are the same; an unknown object may have an attribute of the same name.
OWN, RELATED, FOREIGN = range(3)


class HeldItem(NamedTuple):
    """A container, as an item some steps below a slot, and how it was found there."""

    slot: Slot
    depth: int = 0
    key: str | None = None
    closeness: int = OWN
    hops: int = 0
    calls: tuple[Spot, ...] = ()  # that handed it on, the last one first


_End = Callable[[Flow], HeldItem | None]


class Aliases:
    """Follows a container from name to name."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def everywhere(self, start: HeldItem) -> list[HeldItem]:
        """All slots that lead to the container of the first, the nearest first.

        First back to where the object came from, then on to where it was handed; never back
        again, because a variable that once held it holds other objects at other times.
        """
        origins = _spread([start], self._origins, _MOST_ORIGINS)
        return _spread(origins, self._copies, _MOST_COPIES)

    def additions(self, held: HeldItem) -> Iterator[tuple[Addition, int]]:
        """All lines that may add to it, each with how surely its receiver is this slot."""
        for index in self._names.mentioning(held.slot.name):
            for addition in index.additions.get(held.slot.name, ()):
                receiver = addition.receiver
                slot = self._names.slot_of(receiver.names, addition.spot.scope)
                closeness = self._closeness(held.slot, slot)
                is_level = receiver.depth == held.depth
                if closeness is None or (is_level and _are_other_keys(held.key, receiver.key)):
                    continue
                yield addition, max(held.closeness, closeness)

    def _closeness(self, wanted: Slot, found: Slot) -> int | None:
        """How surely both are the same; None if they are not."""
        if wanted == found:
            return OWN
        if not (wanted.is_attribute and found.is_attribute and wanted.name == found.name):
            return None
        if wanted.owner is None or found.owner is None:
            return FOREIGN
        ours = self._names.scope(wanted.filename, wanted.owner)
        theirs = self._names.scope(found.filename, found.owner)
        return RELATED if ours and theirs and self._are_related(ours, theirs) else None

    def _are_related(self, ours: Scope, theirs: Scope) -> bool:
        return theirs in self._names.lineage(ours) or ours in self._names.lineage(theirs)

    def _origins(self, held: HeldItem) -> Iterator[HeldItem]:
        for name in self._given_through(held.slot):
            for flow in self._names.flows_into(name):
                yield from self._moved(held, flow, self._target, self._source)

    def _copies(self, held: HeldItem) -> Iterator[HeldItem]:
        for index in self._names.mentioning(held.slot.name):
            for flow in index.flows_from.get(held.slot.name, ()):
                for moved in self._moved(held, flow, self._source, self._target):
                    calls = (flow.spot,) if flow.spot else ()
                    yield moved._replace(calls=calls + held.calls)

    def _given_through(self, slot: Slot) -> Iterator[str]:
        """The names to look for: a parameter gets its value through its function, or class."""
        yield slot.name
        function = self._names.scope(slot.filename, slot.owner)
        if function is not None and slot.name in function.parameters:
            owner = function.parent if function.name == "__init__" else None
            yield owner.name if owner else function.name

    def _moved(self, held: HeldItem, flow: Flow, near: _End, far: _End) -> Iterator[HeldItem]:
        """The container seen from the far end of a flow, if it is the one at the near end."""
        here = near(flow)
        closeness = self._closeness(held.slot, here.slot) if here else None
        if here is None or closeness is None or not _is_below(held, here):
            return
        there = far(flow)
        if there is not None:
            below = held.depth - here.depth
            key = held.key if below else there.key
            closeness = max(held.closeness, closeness)
            yield HeldItem(
                there.slot, below + there.depth, key, closeness, held.hops + 1, held.calls
            )

    def _source(self, flow: Flow) -> HeldItem:
        chain = flow.source
        return HeldItem(self._names.slot_of(chain.names, flow.source_scope), chain.depth, chain.key)

    def _target(self, flow: Flow) -> HeldItem | None:
        chain = flow.target
        if flow.argument is None:
            return HeldItem(
                self._names.slot_of(chain.names, flow.target_scope), chain.depth, chain.key
            )
        function = self._names.called(chain, flow.target_scope)
        name = _parameter(function, flow.argument) if function else None
        if function is None or name is None:
            return None
        return HeldItem(Slot(function.filename, function.qualname, name))


def _spread(
    known: list[HeldItem], onwards: Callable[[HeldItem], Iterator[HeldItem]], most_hops: int
) -> list[HeldItem]:
    found = {(held.slot, held.depth): held for held in known}
    edge = known
    for _ in range(most_hops):
        further = sorted((new for held in edge for new in onwards(held)), key=_order_of_calls)
        new = {(held.slot, held.depth): held for held in reversed(further)}
        edge = [held for where, held in new.items() if where not in found]
        edge = edge[: _MOST_NAMES - len(found)]
        found.update(((held.slot, held.depth), held) for held in edge)
    return sorted(found.values(), key=lambda held: held.hops)


def _order_of_calls(held: HeldItem) -> list[tuple[int, int]]:
    """Of calls that hand over the same, one in a loop says more than one that sets up."""
    return [(-call.loops, call.span.line) for call in held.calls]


def _is_below(held: HeldItem, end: HeldItem) -> bool:
    """Whether the container is what stands at this end of a flow, or inside it."""
    is_level = held.depth == end.depth
    return held.depth >= end.depth and not (is_level and _are_other_keys(held.key, end.key))


def _are_other_keys(wanted: str | None, found: str | None) -> bool:
    return wanted is not None and found is not None and wanted != found


def _parameter(function: Scope, argument: int | str) -> str | None:
    if isinstance(argument, str):
        return argument if argument in function.parameters else None
    position = argument + (function.receiver is not None)
    return function.parameters[position] if position < len(function.parameters) else None
