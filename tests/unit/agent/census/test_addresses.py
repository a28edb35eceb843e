"""A set of objects that takes a bit for each."""

import subprocess
import sys

from lowwater.agent.census.addresses import Addresses, place_of


def test_objects_are_new_once():
    things = [[number] for number in range(10_000)]
    seen = Addresses()

    assert seen.new_by_kind(things, ()) == {place_of(list): things}
    assert seen.new_by_kind(things, ()) == {}
    assert len(seen) == 10_000


def test_each_object_is_one_of_its_own():
    """Neighbours in memory, the smallest that there are."""
    things = [object() for _ in range(100_000)]
    seen = Addresses()
    seen.new_by_kind(things[::2], ())

    assert seen.new_by_kind(things, ()) == {place_of(object): things[1::2]}
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

    assert Addresses().new_by_kind(things, {place_of(int), place_of(float)}) == {
        place_of(str): ["a", "b"],
        place_of(list): [[]],
    }


def test_it_takes_a_hundredth_of_what_the_objects_take():
    things = [bytes(100 + number % 7) for number in range(200_000)]
    seen = Addresses()
    seen.new_by_kind(things, ())

    assert seen.held_bytes < 200_000 * 140 * 0.03
    seen.clear()
    assert seen.held_bytes == len(seen) == 0


def test_looking_at_objects_is_no_event_for_those_who_audit():
    """Each would cost as much as the look: `lowwater diagnose` audits its first run."""
    text = """
import sys
from lowwater.agent.census.addresses import Addresses
things, events = [[] for _ in range(1000)], []
sys.addaudithook(lambda event, _: events.append(event))
events.clear()
Addresses().new_by_kind(things, ())
print(len(events))
"""
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=60
    )

    assert (done.stdout, done.stderr) == ("0\n", "")
