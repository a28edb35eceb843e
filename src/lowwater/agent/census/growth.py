"""Compares walks: which paths hold more from census to census, and where they fan out."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import FrameType, ModuleType
from typing import NamedTuple

from lowwater.agent.census.describe import type_name
from lowwater.agent.census.kinds import derives, is_made_by_class_statement, library_of
from lowwater.agent.census.nodes import Node, key_of
from lowwater.agent.census.survival import Trail, has_stayed, trail_of
from lowwater.model.frameworks import FRAMEWORKS

# Paths below this size are not remembered from one census to the next …
_LEAST_BYTES = 32 * 1024
# … but for the program's own near its roots: there the start of a growth matters.
_NEAR_THE_ROOT = 6
# What is less than this part of the growth is not worth a finding.
_LEAST_SHARE = 0.02
# Containers of things that are small to Python: this many are told, if they are not too long.
_MOST_LIGHT = 6
_LONGEST = 100_000
# Between two censuses with less of the growth than this, a path may well have stood still.
_LEAST_OF_GROWTH = 0.15
# Of names that a program generates there are at least this many; x1 and x2 may be written by hand.
_FEWEST_OF_A_FAMILY = 3
# From two censuses a growth cannot be told from one thing that was not there at the first.
_ONE_INTERVAL = 2
_DIGITS = re.compile(r"\d+")
# Tensors, and what describes them: TensorFlow notes a shape in a tensor that is asked for it.
_DATA = frozenset({"EagerTensor", "Tensor", "ArrayImpl", "TensorShape", "Dimension", "DType"})


class Totals(NamedTuple):
    """What a path held at one census."""

    population: int = 0
    fan_out: int = 0
    own_bytes: int = 0
    bytes_below: int = 0


_NOTHING = Totals()
Keys = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """All paths of one census that matter, by their key; refers to no object of the program.

    `keys` has the path of single objects by their address: elsewhere in the program another
    function runs, and the same object is reached in another way. `lengths` has the containers'.
    `trails` tells whether a path still holds the same things.
    """

    in_use_bytes: int
    totals: Mapping[int, Totals]
    keys: Mapping[tuple[int, str], int]
    lengths: Mapping[int, int]
    trails: Mapping[int, Trail]


@dataclass(frozen=True, slots=True)
class Suspect:
    """A path whose number of items, or whose own size, rose from each census to the next."""

    node: Node
    counts: tuple[int, ...]
    sizes_bytes: tuple[int, ...]
    multiplied: tuple[Node, ...]
    grown_bytes: int
    is_shared: bool = False

    @property
    def has_generated_names(self) -> bool:
        """Whether its items are attributes or variables with a number in their names."""
        names = (child.label for child in self.multiplied)
        return not self.node.fan_out and any(map(_DIGITS.search, names))


@dataclass(slots=True)
class _Comparison:
    """Goes down from a root, with the name that each node had at each earlier census."""

    earlier: Sequence[Summary]
    telling: Sequence[int]
    least_bytes: int
    suspects: list[Suspect] = field(default_factory=list)
    longer: list[Suspect] = field(default_factory=list)

    def visit(self, node: Node, keys: Keys) -> None:
        """Find what grew in this node or below."""
        own = self._series(node, keys)
        multiplied, steady = self._grown_children(node, keys, own)
        gain = sum(_gain(series) for _, series in multiplied)
        gain += own[-1].own_bytes - own[0].own_bytes
        if node.fan_out:  # a dictionary has names for its items only while there are few
            gain = min(gain, _gain(own))
        if gain >= self.least_bytes and self._may_be_blamed(node, keys, own, multiplied):
            self.suspects.append(_suspect(node, own, multiplied, gain))
        for child in steady:
            self.visit(child, self._keys_below(child, keys))

    def look_for_longer(self, node: Node, keys: Keys) -> None:
        """Find containers of the program that got longer, whoever holds what is in them."""
        if any(suspect.node is node for suspect in self.suspects):
            return  # what is below holds its things through this one, and not beside it
        own = self._series(node, keys)
        is_longer = node.fan_out and self._rises(total.fan_out for total in own)
        if is_longer and self._is_known(keys) and self._holds_the_same(node, keys):
            gain = own[-1].own_bytes - own[0].own_bytes
            self.longer.append(_suspect(node, own, (), max(1, gain)))
        if node.depth < _NEAR_THE_ROOT:
            for child in node.own_children():
                self.look_for_longer(child, self._keys_below(child, keys))

    def keys_of_root(self, root: Node) -> Keys:
        """A root has the same name in every census."""
        return (key_of(root, 0),) * len(self.earlier)

    def _grown_children(
        self, node: Node, keys: Keys, own: Sequence[Totals]
    ) -> tuple[list[tuple[Node, list[Totals]]], list[Node]]:
        """Those that multiply, and those that hold more each time."""
        multiplied, steady = [], []
        is_longer = bool(node.fan_out) and self._rises(total.fan_out for total in own)
        children = [
            (child, self._series(child, self._keys_below(child, keys)))
            for child in node.own_children()
        ]
        families = self._growing_families(children)
        for child, series in children:
            if _family(child) in families:  # all of them: they are counted
                multiplied.append((child, series))
                continue
            if _gain(series) <= 0:
                continue
            # `logs["epoch 7"]` has a path of its own: that it is new makes it one of many.
            is_one_more = is_longer and not series[0].population
            are_more = is_one_more or self._rises(total.population for total in series)
            if are_more and not _is_variable(node, child):
                multiplied.append((child, series))
            elif _gain(series) >= self.least_bytes:
                steady.append(child)
        return multiplied, steady

    def _growing_families(
        self, children: Sequence[tuple[Node, Sequence[Totals]]]
    ) -> set[tuple[type, str]]:
        """Names that differ in a number, and become more and more: `.epoch_3`, `.epoch_4`."""
        members: dict[tuple[type, str], list[Sequence[Totals]]] = {}
        for child, series in children:
            if _DIGITS.search(child.label):
                members.setdefault(_family(child), []).append(series)
        return {
            family
            for family, all_series in members.items()
            if len(all_series) >= _FEWEST_OF_A_FAMILY
            and self._rises(
                sum(total.population > 0 for total in column)
                for column in zip(*all_series, strict=True)
            )
        }

    def _may_be_blamed(
        self,
        node: Node,
        keys: Keys,
        own: Sequence[Totals],
        multiplied: Sequence[tuple[Node, list[Totals]]],
    ) -> bool:
        known = self._is_known(keys)
        # What the program has made since the last census may be all that it will ever make.
        if node.kind is FrameType or (node.is_users and not known):
            return False
        if not known and _items(node, own[-1]) - _items(node, own[0]) == 1:
            # What a call is given while it runs: one thing, that was not there before.
            return len(self.telling) > _ONE_INTERVAL
        is_grown = bool(multiplied) or self._rises(total.own_bytes for total in own)
        return is_grown and self._holds_the_same(node, keys)

    def _is_known(self, keys: Keys) -> bool:
        """Whether there was such a path at every earlier census."""
        return all(key in summary.totals for key, summary in zip(keys, self.earlier, strict=True))

    def _holds_the_same(self, node: Node, keys: Keys) -> bool:
        """Whether it has kept what it held, and is not another thing in the same place."""
        then = ((self.earlier[index].trails, keys[index]) for index in self.telling[:-1])
        return all(key not in trails or has_stayed(node, trails[key]) for trails, key in then)

    def _series(self, node: Node, keys: Keys) -> list[Totals]:
        before = zip(keys, self.earlier, strict=True)
        return [*(summary.totals.get(key, _NOTHING) for key, summary in before), totals_of(node)]

    def _rises(self, values: Iterable[int]) -> bool:
        """Whether it rose between all censuses that are far enough apart to tell."""
        all_values = [*values]
        told = [all_values[index] for index in self.telling]
        return all(low < high for low, high in pairwise(told))

    def _keys_below(self, child: Node, keys: Keys) -> Keys:
        return tuple(
            self._key_then(child, key_of(child, key), summary)
            for key, summary in zip(keys, self.earlier, strict=True)
        )

    def _key_then(self, node: Node, key: int, summary: Summary) -> int:
        if key in summary.totals or node.count != 1 or not node.objects:
            return key
        return summary.keys.get((id(node.objects[0]), type_name(node.kind)), key)


def compare(
    roots: Sequence[Node], earlier: Sequence[Summary], in_use_bytes: int
) -> tuple[list[Suspect], list[Suspect]]:
    """The paths that grew from census to census, those that grew most first.

    And containers that only got longer, with things that were found on another path.
    """
    growth_bytes = max(0, in_use_bytes - earlier[0].in_use_bytes)
    least_bytes = max(_LEAST_BYTES, round(growth_bytes * _LEAST_SHARE))
    levels = [*(summary.in_use_bytes for summary in earlier), in_use_bytes]
    comparison = _Comparison(earlier, _telling(levels), least_bytes)
    for root in roots:
        comparison.visit(root, comparison.keys_of_root(root))
    for root in roots:
        if root.is_users:
            comparison.look_for_longer(root, comparison.keys_of_root(root))
    suspects = sorted(comparison.suspects, key=lambda suspect: -suspect.grown_bytes)
    return suspects, comparison.longer


def is_data(suspect: Suspect) -> bool:
    """Whether its items are arrays, tensors and plain objects: nothing that a framework runs."""
    return all(map(holds_data, suspect.multiplied))


def holds_data(node: Node) -> bool:
    """Whether all on this path and below it is such data."""
    kinds = (one.kind for one in node.all_below())
    return not any(library_of(kind) in FRAMEWORKS and not _is_data(kind) for kind in kinds)


def _is_data(kind: type) -> bool:
    return type_name(kind).rpartition(".")[2] in _DATA


def with_new_things(longer: Sequence[Suspect]) -> list[Suspect]:
    """Containers that keep getting objects of classes, small as these may look to Python.

    A gradient tape, a session or a data set keeps its memory in C++.
    """
    return [one for one in longer if _holds_different_things(one.node)][:_MOST_LIGHT]


def _holds_different_things(node: Node) -> bool:
    if node.count != 1 or node.fan_out > _LONGEST:
        return False
    container = node.objects[0]
    parts = [*container.values()] if derives(node.kind, dict) else [*container]
    different = {id(part) for part in parts if is_made_by_class_statement(type(part))}
    return len(different) * 2 >= len(parts)


def _telling(levels: Sequence[int]) -> list[int]:
    """The first census, the last, and those between that are a good part of the growth apart."""
    least = _LEAST_OF_GROWTH * max(1, levels[-1] - levels[0])
    last, chosen = len(levels) - 1, [0]
    for index, level in enumerate(levels[:-1]):
        if level - levels[chosen[-1]] >= least and levels[-1] - level >= least:
            chosen.append(index)
    return [*chosen, last]


def summarise(roots: Sequence[Node], in_use_bytes: int) -> Summary:
    """What to remember of a census until the next."""
    totals, keys, lengths = dict[int, Totals](), dict[tuple[int, str], int](), dict[int, int]()
    trails = dict[int, Trail]()
    for node, key in _with_keys(roots):
        totals[key], trails[key] = totals_of(node), trail_of(node)
        if node.count == 1 and node.objects:
            keys[id(node.objects[0]), type_name(node.kind)] = key
        if node.fan_out:
            lengths |= {id(container): len(container) for container in node.objects}
    return Summary(in_use_bytes, totals, keys, lengths, trails)


def _with_keys(roots: Sequence[Node]) -> Iterator[tuple[Node, int]]:
    """The nodes that are worth remembering."""
    pending = [(root, key_of(root, 0)) for root in roots]
    while pending:
        node, key = pending.pop()
        is_near = node.is_users and node.depth <= _NEAR_THE_ROOT
        if node.bytes_below >= _LEAST_BYTES or is_near:
            yield node, key
            pending += [(child, key_of(child, key)) for child in node.own_children()]


def totals_of(node: Node) -> Totals:
    """The numbers of a node, without the node."""
    return Totals(node.count, node.fan_out, node.own_bytes, node.bytes_below)


def _suspect(
    node: Node,
    own: Sequence[Totals],
    multiplied: Sequence[tuple[Node, list[Totals]]],
    grown_bytes: int,
) -> Suspect:
    columns = [*zip(*(series for _, series in multiplied), strict=True)] or [()] * len(own)
    # Then the items that were there before had paths of their own, too.
    are_new = any(not series[0].population for _, series in multiplied)
    sizes = [
        total.bytes_below
        if are_new and node.fan_out
        else total.own_bytes + sum(below.bytes_below for below in column)
        for total, column in zip(own, columns, strict=True)
    ]
    counts = [
        total.fan_out
        if node.fan_out
        else sum(below.population for below in column) or total.population
        for total, column in zip(own, columns, strict=True)
    ]
    largest_first = sorted((child for child, _ in multiplied), key=lambda child: -child.bytes_below)
    return Suspect(node, tuple(counts), tuple(sizes), tuple(largest_first), grown_bytes)


def _items(node: Node, total: Totals) -> int:
    return total.fan_out if node.fan_out else total.population


def _is_variable(node: Node, child: Node) -> bool:
    """Whether it is a variable of a module or a function, or an attribute: not one of many."""
    is_attribute = child.label.startswith(".") and not node.fan_out and child.count <= node.count
    is_in_root = node.parent is None and node.kind in (FrameType, ModuleType)
    return bool(child.label) and (is_in_root or is_attribute)


def _family(node: Node) -> tuple[type, str]:
    """What a generated name has in common with the others: the name without its number."""
    return node.kind, _DIGITS.sub("#", node.label)


def _gain(series: Sequence[Totals]) -> int:
    return series[-1].bytes_below - series[0].bytes_below
