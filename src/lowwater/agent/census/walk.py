"""Walks over all objects, breadth first, and adds up what lies on the same path.

Objects come and go, paths stay: `__main__` . `agent` → Agent . `memory` → list → tuple → array.
Objects that are reached in the same way share one node of a tree, so that two walks can be
compared. An object belongs to the first path that reaches it, and the program's own paths go
first: what a library holds as well is still the program's.

What does not fit into the budget is left out. Which path an object belongs to depends on all that
was followed before it, so two walks can be compared only if both have left out the same paths,
each of them from the start; a walk that broke off can be compared with none.
"""

import gc
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lowwater.agent.census.addresses import Addresses, place_of
from lowwater.agent.census.budget import Budget, Cut
from lowwater.agent.census.edges import named_parts
from lowwater.agent.census.estimate import AT_ONCE, FEW_AT_ONCE, batches, expected, is_sliced
from lowwater.agent.census.kinds import Answers, kind_of
from lowwater.agent.census.nodes import NODE_BYTES, Node
from lowwater.agent.census.references import LEAVES, NUMBER_PLACES, OPEN, References
from lowwater.agent.census.sizes import Sizes
from lowwater.model.interruption import let_through

# Objects of a node that are remembered while the census lasts: enough to tell the rest by.
_MOST_REMEMBERED = 64
# More instances of a class than this are data, and their attributes are not told apart.
_FEW = 32
# So many parts have names of their own; in a tree of a million objects each has another path.
_MOST_NAMED = 4_000
# An object that waits to be followed, in a list that has room for an eighth more.
_WAITING_BYTES = 9
# A number takes a block of 32 bytes. How many there are, and whether they are the same few over
# and over (labels, rewards), a sample of this size shows.
_NUMBER_BYTES = 32
_SAMPLE = 4_096
# Their items have no names, and there is nothing else to them.
_WITHOUT_NAMES = frozenset({list, tuple, set, frozenset, deque})


@dataclass(slots=True)
class Walk:
    """One walk: what was seen, and what still has to be followed.

    `left_out` has the keys of the paths that are not followed. It may begin with those that
    earlier walks have left out; `is_broken` says that one of them was followed in part.
    """

    sizes: Sizes
    references: References
    is_ours: Callable[[type], bool]
    is_users_class: Callable[[type], bool]
    wanted: Callable[[type], bool]
    budget: Budget = field(default_factory=Budget)
    left_out: set[int] = field(default_factory=set)
    found: list[Any] = field(default_factory=list)
    # On which path each row of them was found, and how many they are.
    found_at: list[tuple[Node, int]] = field(default_factory=list)
    seen: Addresses = field(default_factory=Addresses)
    # What was left out, and is entered after all.
    _let_in: Addresses = field(default_factory=Addresses)
    cut: Cut | None = None
    is_broken: bool = False
    _is_over: bool = False
    _names_left: int = _MOST_NAMED
    _waiting: int = 0
    _nodes: int = 0
    _pending: deque[tuple[Node, list[Any]]] = field(default_factory=deque)
    _ours: Answers[bool] = field(init=False)
    _wanted: Answers[bool] = field(init=False)

    def __post_init__(self) -> None:
        """Remember what is answered about types: a chain has a million steps of the same."""
        self.budget.start()
        self._ours, self._wanted = Answers(self.is_ours), Answers(self.wanted)

    @property
    def is_complete(self) -> bool:
        """Whether all objects were looked at."""
        return self.cut is None

    @property
    def held_bytes(self) -> int:
        """What the walk itself takes by now."""
        waiting = (self._waiting + len(self.found)) * _WAITING_BYTES
        addresses = self.seen.held_bytes + self._let_in.held_bytes
        return addresses + waiting + self._nodes * NODE_BYTES

    def leave_out(self, things: Iterable[Any]) -> None:
        """Do not follow these, from wherever they are reached."""
        self.seen.new_by_kind(things, ())

    def readmit(self, things: Iterable[Any]) -> None:
        """Follow these after all, from now on."""
        for thing in things:
            self.seen.discard(thing)

    def enter(self, node: Node, label: str, thing: Any) -> None:  # noqa: ANN401
        """Start at an object that a root names."""
        kind = type(thing)
        if place_of(kind) in NUMBER_PLACES or self._ours.of(kind) or self._is_closed(node):
            return
        if self.seen.add(thing):
            self._found(node.child(kind_of(thing), label), [thing])

    def enter_all(self, node: Node, things: Iterable[Any]) -> None:
        """Start at many objects that a root holds, or go on to them."""
        self._enter(node, things, self.seen)

    def enter_left_out(self, node: Node, things: Iterable[Any]) -> None:
        """Start at objects that were left out until now: each of them once."""
        self._enter(node, things, self._let_in)

    def _enter(self, node: Node, things: Iterable[Any], seen: Addresses) -> None:
        if self._is_closed(node):
            return
        # A list of ten million numbers would need ten million names.
        for alike in seen.new_by_kind(things, NUMBER_PLACES).values():
            if not self._ours.of(type(alike[0])):
                self._found(node.child(kind_of(alike[0])), alike)

    def run(self) -> None:
        """Follow everything that was entered."""
        while self._pending:
            node, things = self._pending.popleft()
            self._waiting -= len(things)
            if self._is_over:
                self._leave(node, self.cut or Cut.TIME)
            elif node.key not in self.left_out:
                self._try_to_follow(node, things)

    def forget(self) -> None:
        """Let go of all objects."""
        self.found, self.found_at, self._pending = [], [], deque()
        self.seen.clear()
        self._let_in.clear()

    def _is_closed(self, node: Node) -> bool:
        """Whether what this node refers to is left out."""
        return self._is_over or node.key in self.left_out

    def _try_to_follow(self, node: Node, things: list[Any]) -> None:
        lack = self._lack(node, things)
        if lack is not None:
            self._leave(node, lack)
            return
        try:
            node.is_followed = True
            self._follow(node, things)
        except Exception as error:  # noqa: BLE001 - one strange class must not hide all the others
            let_through(error)
            self._leave(node, Cut.FAILED)

    def _leave(self, node: Node, why: Cut) -> None:
        self.cut = self.cut or why
        self.is_broken |= node.is_followed
        self.left_out.add(node.key)

    def _lack(self, node: Node, things: list[Any]) -> Cut | None:
        need = expected(node.kind, things, self.references.array_type)
        if need.things <= FEW_AT_ONCE:
            return None  # what is used up by many such steps is noticed in time
        bytes_more = need.things * _WAITING_BYTES + need.bytes_at_once
        return self.budget.lack(len(self.seen) + need.things, self.held_bytes + bytes_more)

    def _use(self, node: Node, followed: int) -> None:
        if not self.budget.is_due(followed):
            return
        shortage = self.budget.shortage(len(self.seen), self.held_bytes)
        if shortage is not None:
            self._leave(node, shortage)
            self._is_over = True

    def _follow(self, node: Node, objects: list[Any]) -> None:
        if node.is_users and node.count <= _FEW and node.kind not in _WITHOUT_NAMES:
            self._enter_named(node, objects)
        for batch in batches(node.kind, objects):
            self._follow_batch(node, batch)
            if self._is_over:
                return

    def _enter_named(self, node: Node, objects: list[Any]) -> None:
        for thing in objects if self._names_left > 0 else ():
            for label, part in named_parts(thing, self.is_users_class):
                self.enter(node, label, part)
                self._names_left -= 1

    def _follow_batch(self, node: Node, batch: list[Any]) -> None:
        if is_sliced(node.kind, batch):
            self._follow_slices(node, batch[0])
        elif node.kind in _WITHOUT_NAMES:
            referents = gc.get_referents(*batch)
            self.enter_all(node, referents)
            self._count_numbers(node, referents)
            self._use(node, len(batch) + len(referents))
        else:
            self._follow_objects(node, batch)

    def _follow_objects(self, node: Node, batch: list[Any]) -> None:
        made = self.references.attribute_dicts(node.kind, batch)
        if made:
            self.leave_out(made)  # what is in them is the objects' own
            node.own_bytes += self.sizes.total(dict, made)
        followed = len(batch)
        for referents in self.references.of(node.kind, batch, made):
            self.enter_all(node, referents)
            followed += len(referents)
            if node.kind in OPEN:
                self._count_numbers(node, referents)
        self._use(node, followed)

    def _follow_slices(self, node: Node, items: Sequence[Any]) -> None:
        """A list of a hundred million would be copied whole otherwise."""
        self._count_numbers(node, items)
        for start in range(0, len(items), AT_ONCE):
            self.enter_all(node, items[start : start + AT_ONCE])
            self._use(node, AT_ONCE)
            if self._is_over:
                return

    def _count_numbers(self, node: Node, things: Sequence[Any]) -> None:
        """Numbers are not told apart, but ten million of them are a lot of memory."""
        every = len(things) // _SAMPLE + 1
        sample = things[::every]
        for kind in (float, int):
            numbers = [thing for thing in sample if type(thing) is kind]
            if numbers:
                different = len(set(map(id, numbers)))
                below = node.child(kind)
                count = len(numbers) * every if different > len(numbers) // 2 else different
                below.count += count
                below.own_bytes += count * _NUMBER_BYTES
                self.sizes.total_bytes += count * _NUMBER_BYTES
                below.objects = below.objects or numbers[:1]

    def _found(self, node: Node, things: list[Any]) -> None:
        kind = node.kind
        self._nodes += not node.count
        node.count += len(things)
        node.own_bytes += self.sizes.total(kind, things)
        if kind in OPEN:
            node.fan_out += sum(map(len, things))
        room = _MOST_REMEMBERED - len(node.objects)
        if room > 0:
            node.objects += things[:room]
        if self._wanted.of(kind):
            self.found += things
            self.found_at.append((node, len(things)))
        if kind not in LEAVES:
            self._pending.append((node, things))
            self._waiting += len(things)
