"""memray is the last resort: only where nothing else explains, and where it can be believed."""

import sys
import threading
import types

import pytest

from lowwater.agent.native_trace.plan import Plan, growth_between, obstacle
from lowwater.model import tallies
from lowwater.recording.records import Counted, Held, Tallied
from lowwater.testing import a_holder, a_model, a_module, a_step, a_tally, an_array

MIB = 1 << 20


def census(ordinal, mib, *, seconds, unit_id=0, ordinals=()):
    return Counted(unit_id, ordinal, round(seconds * 1e6), 1000, round(mib * MIB), 1000, ordinals)


def grew(*seen, mib=8.0, rounds=4, round_s=0.5, pool_mib=0.0):
    """Two censuses with so much growth between them, of which `seen` explains a part."""
    holders = [one for one in seen if hasattr(one, "steps")]
    counted = [one for one in seen if not hasattr(one, "steps")]
    first = census(4, 100, seconds=10)
    last = census(4 + rounds, 100 + mib, seconds=10 + rounds * round_s)
    return growth_between(
        (first, 0), (last, round(pool_mib * MIB)), [Held(holders), Tallied(counted)]
    )


def arrays(mib):
    """A list of the program's that explains so much, in four rounds."""
    return a_holder(a_module(), a_step(".kept", "list"), an_array(), grows=".kept", mib=mib / 4)


def models(mib):
    return a_holder(a_module(), a_step(".kept", "list"), a_model(), grows=".kept", mib=mib / 4)


@pytest.mark.parametrize(
    ("growth", "deserves"),
    [
        (grew(), True),
        (grew(arrays(mib=3.9)), True),
        (grew(arrays(mib=4.1)), False),
        (grew(mib=1.01), True),
        (grew(mib=0.99), False),
        # The native side of models is theirs, however small their Python side.
        (grew(models(mib=1)), False),
        (grew(models(mib=0.01)), True),
        (grew(a_tally(tallies.OPERATIONS)), False),
        (grew(a_tally(tallies.CALLS, "clear_session")), False),
        (grew(a_tally(tallies.CALLS, "fit")), True),
        (grew(a_tally(tallies.COLLECTOR, "enabled", each=0)), True),
    ],
)
def test_only_growth_that_nothing_else_explains_deserves_a_trace(growth, deserves):
    assert growth.deserves_a_trace is deserves


def test_short_rounds_are_watched_with_native_stacks_and_long_ones_without():
    assert grew(round_s=2).plan(7) == Plan(7, 3, with_native_stacks=True)
    assert grew(round_s=3).plan(7) == Plan(7, 3, with_native_stacks=False)


def test_small_rounds_are_watched_until_they_make_a_megabyte():
    assert grew(mib=2, rounds=1000).plan(0).rounds == 500


def test_rounds_are_counted_in_the_unit_of_the_later_census():
    first = census(2, 100, seconds=0, unit_id=0, ordinals=(2, 50))
    last = census(60, 110, seconds=20, unit_id=1, ordinals=(3, 60))

    growth = growth_between((first, 0), (last, 0), [])

    assert (growth.rounds, growth.round_s) == (10, 2.0)


def test_unit_that_the_first_census_did_not_know_is_counted_from_its_beginning():
    first = census(2, 100, seconds=0, unit_id=0, ordinals=(2, -1))
    last = census(5, 110, seconds=20, unit_id=1, ordinals=(3, 5))

    assert growth_between((first, 0), (last, 0), []).rounds == 5


def test_nothing_stands_in_the_way_of_a_plain_program():
    assert obstacle(grew()) is None


@pytest.mark.parametrize(("pool_mib", "is_told"), [(4.1, True), (3.9, False)])
def test_growth_of_the_pool_would_mislead(pool_mib, is_told):
    told = "TensorFlow's memory comes from a pool, so its allocation sites would mislead"

    assert obstacle(grew(pool_mib=pool_mib)) == (told if is_told else None)


@pytest.mark.parametrize(("setting", "is_told"), [("1", True), ("true", True), ("0", False)])
def test_a_pool_that_was_asked_for_would_mislead(monkeypatch, setting, is_told):
    monkeypatch.setenv("TF_CPU_ALLOCATOR_USE_BFC", setting)
    monkeypatch.setitem(sys.modules, "tensorflow", types.ModuleType("tensorflow"))

    assert bool(obstacle(grew())) is is_told


def test_the_setting_of_a_pool_says_nothing_where_tensorflow_is_not_used(monkeypatch):
    monkeypatch.setenv("TF_CPU_ALLOCATOR_USE_BFC", "1")
    monkeypatch.delitem(sys.modules, "tensorflow", raising=False)

    assert obstacle(grew()) is None


def test_long_rounds_are_left_alone():
    assert obstacle(grew(round_s=20)) is None
    told = "one round takes 30.0 s, and memray makes it several times slower"
    assert obstacle(grew(round_s=30)) == told


def test_greenlets_are_left_alone(monkeypatch):
    monkeypatch.setitem(sys.modules, "greenlet", types.ModuleType("greenlet"))

    assert obstacle(grew()) == "the program uses greenlets"


@pytest.mark.parametrize("where", [sys, threading])
def test_profile_function_of_the_program_is_not_replaced(where):
    before = where.getprofile()
    where.setprofile(lambda *_: None)
    try:
        found = obstacle(grew())
    finally:
        where.setprofile(before)

    assert found == "the program uses its own profile function"
