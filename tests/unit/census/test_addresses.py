"""A set of objects that takes a bit for each."""

from lowwater.census.addresses import Addresses


def test_objects_are_new_once():
    things = [[number] for number in range(10_000)]
    seen = Addresses()

    assert seen.new_by_kind(things, ()) == {id(list): things}
    assert seen.new_by_kind(things, ()) == {}
    assert len(seen) == 10_000


def test_each_object_is_one_of_its_own():
    """Neighbours in memory, the smallest that there are."""
    things = [object() for _ in range(100_000)]
    seen = Addresses()
    seen.new_by_kind(things[::2], ())

    assert seen.new_by_kind(things, ()) == {id(object): things[1::2]}
    assert all(not seen.add(thing) for thing in things)


def test_what_is_taken_out_is_new_again():
    one, other = [], []
    seen = Addresses()
    assert seen.add(one)
    assert seen.add(other)
    seen.discard(one)
    seen.discard(one)

    assert len(seen) == 1
    assert not seen.add(other)
    assert seen.add(one)


def test_kinds_are_apart_and_may_be_passed_over():
    things = [1, "a", [], 2.5, "b"]

    assert Addresses().new_by_kind(things, {id(int), id(float)}) == {
        id(str): ["a", "b"],
        id(list): [[]],
    }


def test_it_takes_a_hundredth_of_what_the_objects_take():
    things = [bytes(100 + number % 7) for number in range(200_000)]
    seen = Addresses()
    seen.new_by_kind(things, ())

    assert seen.held_bytes < 200_000 * 140 * 0.03
    seen.clear()
    assert seen.held_bytes == len(seen) == 0
