"""Of a very long container only the latest items are had."""

from collections import deque

import pytest

from lowwater.agent.census.edges import ANY_ITEM, label
from lowwater.agent.census.latest import MOST_ITEMS, latest_items

LONG = 3 * MOST_ITEMS


def test_latest_come_first():
    assert latest_items([1, 2, 3]) == [3, 2, 1]
    assert latest_items((1, 2, 3)) == [3, 2, 1]
    assert latest_items(deque([1, 2, 3])) == [3, 2, 1]
    assert latest_items({"a": 1, "b": 2}) == [2, 1, "b", "a"]
    assert latest_items({5}) == [5]
    assert latest_items(7) == []


@pytest.mark.parametrize("kind", [list, tuple, deque])
def test_long_container_is_not_copied(kind):
    items = latest_items(kind(range(LONG)))

    assert items == [*range(LONG - 1, LONG - 1 - MOST_ITEMS, -1)]


def test_long_dictionary_is_not_copied():
    thing = []
    names = {**dict.fromkeys(range(LONG)), "last": thing}

    assert latest_items(names)[0] is thing
    assert len(latest_items(names)) == 2 * MOST_ITEMS
    assert label(names, thing) == label([None] * LONG + [thing], thing) == ANY_ITEM
