"""One item of an iterator again and again, as many as there were."""

import itertools
from collections.abc import Hashable, Iterator
from typing import Any

# One that gives more in one pass may be endless; from then on its items are not needed.
MOST_COUNTED = 100
_ENDLESS = -1


class Again:
    """Remembers of each place how many items it gave the first time, and no item."""

    def __init__(self) -> None:
        """Nothing was counted yet."""
        self._counts: dict[Hashable, list[int]] = {}

    def of(self, items: Iterator[Any], place: Hashable) -> Iterator[Any]:
        """The items as they are when a place is passed first, and then the first as often.

        How many there are is known only when they were taken, and to take them is what may leak.
        """
        count = self.count_at(place)
        if count is None:
            tally = self._counts[place] = [0]
            return _counted(items, tally)
        return endlessly(items) if count == _ENDLESS else _as_many(items, count)

    def count_at(self, place: Hashable) -> int | None:
        """How many items the first pass gave; -1 for no end, None if there was none."""
        [count] = self._counts.get(place, [0])
        return count or None


def endlessly(items: Iterator[Any]) -> Iterator[Any]:
    """The first item for ever; what gave it is let go."""
    first = [*itertools.islice(items, 1)]
    del items
    yield from itertools.cycle(first)


def _as_many(items: Iterator[Any], count: int) -> Iterator[Any]:
    # Keras takes a generator, and no other iterator.
    yield from itertools.islice(endlessly(items), count)


def _counted(items: Iterator[Any], tally: list[int]) -> Iterator[Any]:
    for item in items:
        tally[0] += 1
        yield item
        if tally[0] == MOST_COUNTED:
            break
    else:
        return
    del items
    tally[0] = _ENDLESS
    yield from itertools.repeat(item)
