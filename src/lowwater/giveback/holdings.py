"""`lowwater.holdings()`: what is in memory now, where it is, and which variable holds it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from types import FrameType
from typing import Any, Final, NamedTuple

from lowwater.agent.census.budget import Budget, Cut
from lowwater.agent.census.kinds import Answers
from lowwater.agent.census.leaves import Leaves
from lowwater.agent.census.look import Look, collector_off
from lowwater.agent.census.nodes import Node
from lowwater.giveback import _holdings_html, _holdings_text
from lowwater.giveback.holder_names import LIBRARIES, HolderNames, NamedHolder
from lowwater.giveback.living import (
    DATASET,
    LAYER,
    MODEL,
    OPTIMIZER,
    VARIABLE,
    Watched,
    kind_of_type,
    strong,
)
from lowwater.giveback.parts import outermost, parts_of
from lowwater.model import user_code
from lowwater.model.gauges import HOST
from lowwater.model.holding import Holding
from lowwater.probes.headroom import headroom
from lowwater.probes.memory import PlaceMemory, memory

OBJECTS: Final = "objects"
_OWNERS: Final = (OPTIMIZER, MODEL, LAYER, DATASET)
_WANTED: Final = frozenset({*_OWNERS, VARIABLE})
_NO_HOLDER: Final = NamedHolder("no holder found")
_UNHELD: Final = (
    "no holder found: no variable leads there; it may wait for a garbage collection, or a library "
    "holds it outside Python"
)
# Somebody waits for the answer, and has asked for it.
_MOST_SECONDS: Final = 30.0
_SHARE_OF_ROOM: Final = 4
# Python objects of one variable that take less say nothing.
_LEAST_OBJECTS_BYTES: Final = 64 << 10
_CUT: Final = {
    Cut.MEMORY: "too little memory is free for a full heap scan",
    Cut.TIME: "a full heap scan would take too long",
    Cut.NUMBER: "there are too many objects for a full heap scan",
    Cut.FAILED: "some objects could not be scanned",
}


@dataclass(frozen=True, slots=True)
class Holdings:
    """What is in memory, the largest first. It has names and numbers only: it keeps nothing alive.

    `not_attributed_bytes` is what is in use in each place beyond what was found. It is below zero
    where tensors share memory, which TensorFlow does not report. Where bytes in use are not known,
    both are None, and `not_measured` has the reason.
    """

    rows: tuple[Holding, ...] = ()
    in_use_bytes: Mapping[str, int | None] = field(default_factory=dict)
    not_attributed_bytes: Mapping[str, int | None] = field(default_factory=dict)
    not_measured: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The same as plain dictionaries, lists, strings and numbers, for JSON."""
        return {
            "schema": "lowwater.holdings/1",
            "rows": [asdict(row) for row in self.rows],
            "in_use_bytes": dict(self.in_use_bytes),
            "not_attributed_bytes": dict(self.not_attributed_bytes),
            "not_measured": dict(self.not_measured),
            "notes": [*self.notes],
        }

    def __str__(self) -> str:
        return _holdings_text.render(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return _holdings_html.render(self)


def holdings() -> Holdings:
    """What is in memory right now, and which variable holds it.

    Models, optimizers, variables, tensors, data sets, arrays and other objects, by place (the host,
    `GPU:0`, …), with their bytes and the line of the holder. This scans all objects of the
    program, which takes a second or two. Nothing is copied, computed or changed, and other threads
    can continue training. Bytes that several objects share count once.
    """
    return holdings_within(_MOST_SECONDS)


def holdings_within(most_seconds: float, failed: Sequence[FrameType] = ()) -> Holdings:
    """The same in no more than so many seconds of computing.

    `failed` are frames that an exception has ended: their variables count as well.
    """
    levels = memory()
    room = headroom()
    budget = Budget(None if room is None else room // _SHARE_OF_ROOM, most_seconds=most_seconds)
    leaves, kinds = Leaves(), Answers(kind_of_type)
    with collector_off():
        look = Look(
            user_code,
            lambda kind: leaves.kind(kind) is not None or kinds.of(kind) in _WANTED,
            budget,
            frozenset(),
            failed,
        )
        try:
            look.walk_program()
            look.walk_libraries()
            account = _Account(look, leaves, kinds)
            rows = [*account.rows()]
            notes = [_CUT[look.cut] + ": not all is counted"] if look.cut is not None else []
        finally:
            look.forget()
    notes += [_UNHELD] if any(row.held_by == _NO_HOLDER.held_by for row in rows) else []
    return _told(rows, levels, notes)


def _told(rows: list[Holding], levels: Mapping[str, PlaceMemory], notes: list[str]) -> Holdings:
    found: Counter[str] = Counter()
    for row in rows:
        found[row.place] += row.size_bytes
    in_use = {place: one["in_use_bytes"] for place, one in levels.items()}
    in_use |= {place: None for place in found if place not in in_use}
    reasons = {
        place: one["not_measured"]["in_use_bytes"]
        for place, one in levels.items()
        if one["in_use_bytes"] is None
    }
    return Holdings(
        tuple(sorted(rows, key=lambda row: -row.size_bytes)),
        in_use,
        {place: None if total is None else total - found[place] for place, total in in_use.items()},
        {place: reasons.get(place, "no framework reports it") for place in in_use}
        if None in in_use.values()
        else {},
        tuple(notes),
    )


class _Row(NamedTuple):
    kind: str
    place: str
    holder: NamedHolder


class _Account:
    """Books every byte once: to the owner of a variable first, else to the path to it."""

    def __init__(self, look: Look, leaves: Leaves, kinds: Answers[str | None]) -> None:
        self._look = look
        self._leaves = leaves
        self._kinds = kinds
        self._names = HolderNames()
        self._things: list[tuple[Node | None, Any]] = [
            (node, thing) for node, things in look.wanted_by_path for thing in things
        ]
        seen = {id(thing) for _, thing in self._things}
        # What no path leads to, the collector may still know.
        self._things += [
            (None, part)
            for thing in strong(*_OWNERS, VARIABLE)
            for part in (thing, *_values(thing))
            if id(part) not in seen
        ]
        self._owner_of = self._owners()
        self._bytes: Counter[_Row] = Counter()
        self._counts: dict[_Row, set[int]] = {}
        self._buffers: set[int] = set()

    def rows(self) -> Iterator[Holding]:
        for node, thing in self._things:
            self._book(node, thing)
        for row, size_bytes in self._bytes.items():
            where = self._names.line(row.holder)
            count = len(self._counts[row])
            yield Holding(row.kind, count, size_bytes, row.place, row.holder.held_by, where)
        yield from self._objects()

    def _book(self, node: Node | None, thing: Any) -> None:  # noqa: ANN401
        own = self._leaves.kind(type(thing))
        if own is None:
            return
        parts = [*self._leaves.of(thing)]
        for leaf in parts:
            if leaf.buffer is not None and leaf.buffer in self._buffers:
                continue
            kind, holder, owners = self._whose(node, thing, own)
            row = _Row(kind, leaf.place, holder)
            self._bytes[row] += leaf.size_bytes
            self._counts.setdefault(row, set()).update(owners)
        self._buffers.update(leaf.buffer for leaf in parts if leaf.buffer is not None)

    def _whose(self, node: Node | None, thing: Any, own: str) -> tuple[str, NamedHolder, set[int]]:  # noqa: ANN401
        """What it is part of, who holds that, and the objects that are counted for it."""
        owned = self._owner_of.get(self._leaves.identity(thing))
        if owned is not None:
            kind, at, identity = owned
            return kind, self._named(at), {identity}
        if node is None:
            return own, _NO_HOLDER, {id(thing)}
        above = self._telling(node)
        if above is None:
            return own, self._named(node), {id(thing)}
        kind, at = above
        parts = {id(thing)} if kind == VARIABLE else {*map(id, at.objects)}
        return kind, self._named(at), parts

    def _telling(self, node: Node) -> tuple[str, Node] | None:
        """The nearest on the path that says more than a tensor; the whole model for its parts."""
        kinds = ((self._kinds.of(one.kind), one) for one in [*node.path_up()][1:])
        above = [(kind, one) for kind, one in kinds if kind in _WANTED]
        found = next((one for one in above if one[0] != VARIABLE), above[0] if above else None)
        if found is not None and found[0] in (LAYER, MODEL):
            return next((one for one in reversed(above) if one[0] == MODEL), found)
        return found

    def _named(self, node: Node | None) -> NamedHolder:
        return _NO_HOLDER if node is None else self._names.of(node)

    def _owners(self) -> dict[int, tuple[str, Node | None, int]]:
        """The owner of each variable: its optimizer, else the outermost model, else its layer."""
        found: dict[int, tuple[str, Node | None, int]] = {}
        for kind in (OPTIMIZER, MODEL, LAYER):
            own = [(node, one) for node, one in self._things if self._kinds.of(type(one)) == kind]
            inner: set[int] = set()
            if kind == MODEL:
                outer = {
                    one.identity for one in outermost([Watched.of(one, kind) for _, one in own])
                }
                inner = {id(one) for _, one in own} - outer
            for node, one in own:
                if id(one) in inner:
                    continue
                for value in _values_of_all(parts_of(one)):
                    if self._leaves.kind(type(value)) is not None:
                        found.setdefault(self._leaves.identity(value), (kind, node, id(one)))
        return found

    def _objects(self) -> Iterator[Holding]:
        """What else Python's objects take, by variable; those of libraries as one."""
        sizes: Counter[NamedHolder] = Counter()
        counts: Counter[NamedHolder] = Counter()
        for root in self._look.roots:
            for node in root.all_below():
                if node is root or self._leaves.kind(node.kind) is not None:
                    continue
                holder = self._names.of(node) if root.is_users else NamedHolder(LIBRARIES)
                sizes[holder] += node.own_bytes
                counts[holder] += node.count
        for holder, size_bytes in sizes.items():
            if size_bytes >= _LEAST_OBJECTS_BYTES:
                where = self._names.line(holder)
                yield Holding(OBJECTS, counts[holder], size_bytes, HOST, holder.held_by, where)


def _values_of_all(things: Iterable[Any]) -> Iterator[Any]:
    return (value for thing in things for value in (thing, *_values(thing)))


def _values(thing: Any) -> Iterator[Any]:  # noqa: ANN401
    """What a variable of Keras stands for; not by `.value`, which may convert it."""
    try:
        value = object.__getattribute__(thing, "_value")
    except AttributeError:
        return
    # One that is mirrored on several devices has a part on each.
    yield from getattr(value, "_values", None) or (value,)
