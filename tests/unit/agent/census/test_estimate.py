"""How much lies below objects is told before they are followed."""

import numpy as np
import pytest

from lowwater.agent.census.estimate import AT_ONCE, batches, expected

MANY = 200_000

THINGS = {
    "a list": (lambda: [[] for _ in range(MANY)], MANY),
    "numbers": (lambda: [*range(MANY)], 0),
    "a tuple": (lambda: tuple([] for _ in range(MANY)), MANY),
    "half numbers": (lambda: [[] if number % 2 else number for number in range(MANY)], MANY // 2),
    "values": (lambda: {number: [] for number in range(MANY)}, MANY),
    "keys": (lambda: {str(number): 1 for number in range(MANY)}, MANY),
    "keys and values": (lambda: {str(number): [] for number in range(MANY)}, 2 * MANY),
    "a set": (lambda: {str(number) for number in range(MANY)}, MANY),
}


@pytest.mark.parametrize(("make", "things"), THINGS.values(), ids=THINGS)
def test_objects_below_a_container_are_told(make, things):
    container = make()

    assert expected(type(container), [container], None).things == pytest.approx(
        things, rel=0.05, abs=10
    )


def test_many_containers_are_added_up():
    assert expected(list, [[[], []]] * MANY, None).things == 2 * MANY
    assert expected(list, [[1, 2]] * MANY, None).things == 0


def test_long_list_is_had_in_pieces_and_a_dictionary_is_not():
    assert expected(list, [[[]] * MANY], None).bytes_at_once <= 24 * AT_ONCE
    assert expected(dict, [{number: [] for number in range(MANY)}], None).bytes_at_once > 16 * MANY


def test_array_of_objects_is_as_long_as_it_is():
    assert expected(np.ndarray, [np.empty(MANY, object)], np.ndarray).things == MANY
    assert expected(np.ndarray, [np.empty(MANY)], np.ndarray).things == 0


def test_many_objects_come_in_several_lists():
    objects = [[number] * (number % 100) for number in range(20_000)]
    lists = [*batches(list, objects)]

    assert [one for batch in lists for one in batch] == objects
    assert len(lists) > 10
    assert max(sum(map(len, batch)) for batch in lists) <= AT_ONCE
    assert [*batches(list, [[1] * MANY])] == [[[1] * MANY]]
