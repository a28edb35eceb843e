"""One item again and again, as many as there were."""

import gc
import inspect
import itertools
import weakref

from lowwater.diagnose.again import MOST_COUNTED, Again, endlessly


class Items:
    """Gives numbers, and counts how many were taken."""

    def __init__(self, count):
        self.count = count
        self.taken = 0

    def __iter__(self):
        for number in range(self.count):
            self.taken += 1
            yield number


def test_first_pass_is_as_it_is_and_later_ones_take_one_item():
    again, items = Again(), Items(5)
    passes = [[*again.of(iter(items), "here")] for _ in range(3)]

    assert passes == [[0, 1, 2, 3, 4], [0] * 5, [0] * 5]
    assert items.taken == 5 + 1 + 1


def test_what_stands_for_a_generator_is_one():
    again = Again()
    passes = [again.of(iter(Items(2)), "here"), endlessly(iter(Items(2)))]
    [*passes[0]]
    passes.append(again.of(iter(Items(2)), "here"))

    assert all(map(inspect.isgenerator, passes))


def test_each_place_is_counted_for_itself():
    again = Again()

    assert [*again.of(iter(Items(2)), "train")] == [0, 1]
    assert [*again.of(iter(Items(3)), "test")] == [0, 1, 2]
    assert [*again.of(iter(Items(9)), "train")] == [0, 0]


def test_pass_that_was_left_early_gives_as_many_the_next_time():
    again = Again()
    [*itertools.islice(again.of(iter(Items(9)), "here"), 4)]

    assert [*again.of(iter(Items(9)), "here")] == [0] * 4


def test_what_seems_endless_is_not_taken_from_any_more_and_has_no_end():
    again, items = Again(), Items(10**9)
    for _ in range(2):
        taken = [*itertools.islice(again.of(iter(items), "here"), 3 * MOST_COUNTED)]

        assert len(taken) == 3 * MOST_COUNTED
    assert taken == [0] * 3 * MOST_COUNTED
    assert items.taken == MOST_COUNTED + 1


def test_nothing_was_counted_where_nothing_was_given():
    again = Again()

    assert [*again.of(iter(()), "here")] == []
    assert again.count_at("here") is None
    assert [*again.of(iter(Items(2)), "here")] == [0, 1]


def test_endless_repetition_takes_one_item_and_lets_the_generator_go():
    items = Items(9)
    generator = iter(items)
    gone = weakref.ref(generator)
    repeated = endlessly(generator)
    del generator

    assert [*itertools.islice(repeated, 4)] == [0, 0, 0, 0]
    gc.collect()
    assert gone() is None
    assert items.taken == 1
    assert [*endlessly(iter(()))] == []
