"""How much there is to follow below objects, told beforehand: what does not fit is not begun."""

import sys
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from lowwater.agent.census.addresses import place_of
from lowwater.agent.census.kinds import derives
from lowwater.agent.census.references import MEASURABLE, NUMBER_PLACES

_SLICED = frozenset({list, tuple})
# References that are followed at one go; the list of them is garbage a moment later.
AT_ONCE = 50_000
# This many are followed without asking whether they fit.
FEW_AT_ONCE = 1_000
# A sample of this many objects, and items in each, shows how many are not just numbers.
_SAMPLE_OBJECTS = 64
_SAMPLE_ITEMS = 512
# Keys and values in one list, while the keys are listed again.
_BYTES_AT_ONCE = 24


class Expected(NamedTuple):
    """What following would need: objects to remember, and bytes for a moment."""

    things: int = 0
    bytes_at_once: int = 0


def batches(kind: type, objects: list[Any]) -> Iterator[list[Any]]:
    """These objects in lists that do not refer to too much at once."""
    if len(objects) == 1:
        yield objects
        return
    lengths = map(len, objects) if kind in MEASURABLE else (8 for _ in objects)
    start, total = 0, 0
    for index, length in enumerate(lengths):
        if total and total + length > AT_ONCE:
            yield objects[start:index]
            start, total = index, 0
        total += length + 1
    yield objects[start:]


def is_sliced(kind: type, batch: Sequence[Any]) -> bool:
    """Whether this is one container that is long, and can be had in pieces."""
    return len(batch) == 1 and kind in _SLICED and len(batch[0]) > AT_ONCE


def expected(kind: type, objects: list[Any], array_type: type | None) -> Expected:
    """How much there is below objects of one type, as far as their lengths tell."""
    if len(objects) == 1 and kind in MEASURABLE and len(objects[0]) <= FEW_AT_ONCE:
        return Expected(len(objects[0]))
    if derives(kind, array_type):
        items = sum(map(_objects_in_array, objects))
        return Expected(items, 2 * 8 * items)
    if kind not in MEASURABLE:
        return Expected()
    lengths = [len(objects[0])] if len(objects) == 1 else map(len, objects)
    total = longest = 0
    for length in lengths:
        total += length
        longest = max(longest, length)
    at_once = min(longest, AT_ONCE) if kind in _SLICED else longest
    things = round(total * _things_per_item(kind, objects)) if total > AT_ONCE else total
    return Expected(things, at_once * _BYTES_AT_ONCE)


def _objects_in_array(array: Any) -> int:  # noqa: ANN401
    ndarray = sys.modules["numpy"].ndarray
    return int(ndarray.size.__get__(array)) if ndarray.dtype.__get__(array).hasobject else 0


def _things_per_item(kind: type, objects: Sequence[Any]) -> float:
    """How many of a container's items are more than numbers; keys are items, too."""
    every = len(objects) // _SAMPLE_OBJECTS + 1
    items = things = 0
    for container in objects[::every]:
        items += min(len(container), _SAMPLE_ITEMS)
        things += sum(
            place_of(type(part)) not in NUMBER_PLACES
            for sample in _samples(kind, container)
            for part in sample
        )
    return things / max(1, items)


def _samples(kind: type, container: Any) -> Iterator[Collection[Any]]:  # noqa: ANN401
    if kind in _SLICED:
        yield container[:: len(container) // _SAMPLE_ITEMS + 1]
        return
    # At one go: another thread may add to it.
    yield [*islice(container, _SAMPLE_ITEMS)]
    if derives(kind, dict):
        yield [*islice(dict.values(container), _SAMPLE_ITEMS)]
