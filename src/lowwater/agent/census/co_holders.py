"""Containers that hold the same things: what they share is split among them, to equal parts.

A walk gives each object to the first path that reaches it, so of two lists with the same arrays
one seems to hold all and the other nothing. Mending only the first would free nothing at all.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from lowwater.agent.census.growth import Suspect
from lowwater.agent.census.kinds import is_a, is_made_by_class_statement, kind_of
from lowwater.agent.census.nodes import Node
from lowwater.agent.census.references import LEAVES, References
from lowwater.agent.census.sizes import Sizes

# How far below a container its things are looked for, and how many of them.
_DEEPEST = 3
_MOST_THINGS = 50_000
# What each of them takes meanwhile: its place in two dictionaries, with its address and its size.
_BYTES_EACH = 300
# What is smaller says nothing: two lists may well share a number or a name.
_LEAST_BYTES = 1024
_NOTHING_HEAVY = LEAVES - {str, bytes, bytearray}
# Less in common than this is no common holding.
_LEAST_SHARED = 0.1


@dataclass(frozen=True, slots=True)
class _Holding:
    suspect: Suspect
    things: dict[int, int]


def split_fairly(
    suspects: Sequence[Suspect],
    grown: Sequence[Suspect],
    references: References,
    room_bytes: int | None = None,
) -> list[Suspect]:
    """The suspects and those of the other grown containers that share things with them."""
    if not suspects or not grown:
        return [*suspects]
    both = (*suspects, *grown)
    most = _MOST_THINGS
    if room_bytes is not None:
        most = min(most, room_bytes // _BYTES_EACH // len(both))
    holdings = [_Holding(one, _heavy_things(one.node, references, most)) for one in both]
    owners = Counter(identity for holding in holdings for identity in holding.things)
    accused = holdings[: len(suspects)]
    found = [_with_part(one.suspect, _own_part(one, owners)) for one in accused]
    for other in holdings[len(suspects) :]:
        parts = [(_part_of(other, one, owners), one.suspect.sizes_bytes) for one in accused]
        part, sizes_bytes = sum(part for part, _ in parts), max(parts)[1]
        if part:
            found.append(_with_part(replace(other.suspect, sizes_bytes=sizes_bytes), part))
    return sorted(found, key=lambda one: -one.grown_bytes)


def _with_part(suspect: Suspect, part_bytes: int) -> Suspect:
    is_shared = part_bytes != suspect.grown_bytes
    return replace(suspect, grown_bytes=part_bytes, is_shared=is_shared)


def _own_part(holding: _Holding, owners: Counter[int]) -> int:
    """The growth of a suspect that remains when all who share it have got their part."""
    total = sum(holding.things.values())
    if not total:
        return holding.suspect.grown_bytes
    own = sum(size / owners[identity] for identity, size in holding.things.items())
    return round(holding.suspect.grown_bytes * own / total)


def _part_of(other: _Holding, accused: _Holding, owners: Counter[int]) -> int:
    """What goes from a suspect to another container that holds the same things."""
    total = sum(accused.things.values())
    common = other.things.keys() & accused.things.keys()
    shared = sum(accused.things[identity] for identity in common)
    if not total or shared < _LEAST_SHARED * total:
        return 0
    part = sum(accused.things[identity] / owners[identity] for identity in common)
    return round(accused.suspect.grown_bytes * part / total)


def _heavy_things(node: Node, references: References, most: int) -> dict[int, int]:
    """What the containers of a path hold, by address, with the size of each."""
    sizes = Sizes()
    things: dict[int, int] = {}
    for level in _levels(node.objects, references, most):
        for thing in level:
            size = sizes.of(kind_of(thing))(thing)
            # Objects of classes count even if their own size is small: a model, say.
            if size >= _LEAST_BYTES or is_made_by_class_statement(type(thing)):
                things[id(thing)] = max(size, _LEAST_BYTES)
        if len(things) > most:
            break
    return things


def _levels(containers: Sequence[Any], references: References, most: int) -> Iterator[list[Any]]:
    level = [*containers]
    for _ in range(_DEEPEST):
        below: dict[int, Any] = {}
        for thing in level:
            for referents in references.of(type(thing), [thing]):
                heavy = (one for one in referents if kind_of(one) not in _NOTHING_HEAVY)
                # A list of a million would be kept a second time.
                below |= {id(one): one for one in islice(heavy, most - len(below))}
        level = [one for one in below.values() if not is_a(one, type)]
        yield level
