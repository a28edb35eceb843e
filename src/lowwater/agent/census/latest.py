"""The items of a container, from the latest to the first; of a very long one only the latest.

A copy of a dictionary with millions of entries would take more memory than the whole walk.
"""

from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from lowwater.agent.census.kinds import derives

# What was added since the last census is nearly always among these.
MOST_ITEMS = 10_000


def latest_items(thing: Any) -> list[Any]:  # noqa: ANN401
    """Each list is made at one go, for other threads may add to the container meanwhile."""
    kind = type(thing)
    found = next((parts for base, parts in _BACKWARDS if derives(kind, base)), None)
    return [] if found is None else [part for parts in found(thing) for part in parts]


def _of_dict(thing: dict[Any, Any]) -> Iterator[list[Any]]:
    # The values come first: the key is hardly what makes an entry heavy.
    yield [*islice(reversed(dict.values(thing)), MOST_ITEMS)]
    yield [*islice(reversed(dict.keys(thing)), MOST_ITEMS)]


# By no method of a subclass.
_BACKWARDS: tuple[tuple[type, Callable[[Any], Iterator[list[Any]]]], ...] = (
    (dict, _of_dict),
    (list, lambda thing: iter(([*islice(list.__reversed__(thing), MOST_ITEMS)],))),
    (tuple, lambda thing: iter(([*tuple.__getitem__(thing, slice(-MOST_ITEMS, None))][::-1],))),
    (deque, lambda thing: iter(([*islice(deque.__reversed__(thing), MOST_ITEMS)],))),
    (set, lambda thing: iter(([*islice(set.__iter__(thing), MOST_ITEMS)],))),
)
