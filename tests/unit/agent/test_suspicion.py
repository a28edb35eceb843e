"""Collections and censuses are for rising runs only."""

import itertools
import random

import pytest

from lowwater.agent.suspicion import Suspicion
from lowwater.model.policy import Policy

MIB = 1 << 20


@pytest.fixture
def suspicion():
    return a_suspicion()


def a_suspicion():
    return Suspicion(Policy(), most_censuses=5)


def collections_in(levels):
    """Feed the marks of one unit; the ordinals at which a collection was wanted."""
    suspicion, at = a_suspicion(), []
    for ordinal, level in enumerate(levels):
        if suspicion.wants_collection(0, ordinal, level):
            at.append(ordinal)
            suspicion.collected(0, level)
    return at


def test_a_flat_run_is_never_collected():
    assert collections_in([200 * MIB] * 1000) == []


def test_a_noisy_flat_run_is_never_collected():
    noise = random.Random(7)

    assert collections_in([200 * MIB + noise.randrange(400_000) for _ in range(1000)]) == []


def test_a_slow_creep_below_the_noise_of_malloc_is_never_collected():
    assert collections_in([200 * MIB + 2_000 * i for i in range(200)]) == []


@pytest.mark.parametrize("kib", [10, 30, 100])
def test_a_slow_rise_is_collected_when_it_adds_up(kib):
    assert collections_in([200 * MIB + kib * 1024 * i for i in range(1000)]) != []


def test_a_slow_rise_is_collected_as_soon_as_it_can_be_seen():
    """42 KiB in each round, as of an eager `py_function`: the verdict needs it within 60."""
    at = collections_in([200 * MIB + 42 * 1024 * i for i in range(60)])

    assert 25 <= at[0] <= 35


def test_a_run_that_only_jumps_at_its_start_is_never_collected():
    assert collections_in([100 * MIB, 150 * MIB, *[180 * MIB] * 50]) == []


def test_a_jump_between_tiny_rises_is_never_collected():
    wobble = [200.0, 200.01, 201.3, 201.31, 201.32, 201.33, 200.0, 200.02]

    assert collections_in([round(mib * MIB) for mib in wobble * 50]) == []


def test_a_steady_rise_is_collected_at_spread_out_rounds():
    at = collections_in([200 * MIB + MIB * i for i in range(100)])

    assert at == [5, 9, 17, 33, 65]


def test_a_run_that_rises_late_is_collected_as_soon_as_one_that_rises_from_its_start():
    late = 10_000
    at = collections_in([200 * MIB + MIB * max(0, i - late) for i in range(late + 100)])

    assert [one - late for one in at] == [4, 8, 16, 32, 64]


def test_a_rise_that_falls_back_every_third_round_is_collected():
    """Of a real `load_model` loop: up, up, down, and a little higher each time."""
    levels = [
        200 * MIB + MIB * i // 2 + (3 * MIB if i % 3 == 2 else MIB * (i % 3)) for i in range(20)
    ]

    assert collections_in(levels) != []


def test_the_same_without_the_rise_is_not():
    levels = [200 * MIB + (3 * MIB if i % 3 == 2 else MIB * (i % 3)) for i in range(300)]

    assert collections_in(levels) == []


def test_a_large_rise_is_collected_within_six_epochs():
    assert collections_in([200 * MIB + 2 * MIB * i for i in range(7)])[0] <= 5


def test_a_rise_that_stops_is_no_longer_collected():
    at = collections_in([200 * MIB + MIB * min(i, 8) for i in range(500)])

    assert 1 <= len(at) <= 3


def test_units_that_rise_together_share_their_collections(suspicion):
    count = 0
    for ordinal in range(30):
        for unit in range(4):
            level = 200 * MIB + 4 * MIB * ordinal + unit * 1000
            if suspicion.wants_collection(unit, ordinal, level):
                suspicion.collected(unit, level)
                count += 1

    assert count <= 6


def fast_garbage(rounds, *, fall_back):
    """An inner loop that ends in every round; the collector takes all that it added, or none."""
    suspicion, level, count = a_suspicion(), 200 * MIB, 0
    for ordinal in range(rounds):
        level += MIB
        if suspicion.wants_collection(0, ordinal, level, at_end=True):
            count += 1
            level = 200 * MIB if fall_back else level
            suspicion.collected(0, level)
            if suspicion.wants_census(0, level, at_end=True):
                suspicion.census_taken(0, level)
    return count


def test_loops_that_end_often_do_not_collect_each_time():
    assert fast_garbage(200, fall_back=True) <= 10
    assert fast_garbage(200, fall_back=False) <= 14


def test_a_rise_after_the_last_collection_is_tested_at_its_end(suspicion):
    """Epoch 12 after 4 and 8, which are due, and before 16, which never comes."""
    for ordinal in range(13):
        if suspicion.wants_collection(0, ordinal, 200 * MIB + 4 * MIB * ordinal):
            suspicion.collected(0, 200 * MIB + 4 * MIB * ordinal)

    assert suspicion.wants_collection(0, 12, 248 * MIB, at_end=True)


@pytest.mark.parametrize(("collections", "is_wanted"), [(1, True), (2, True), (3, False)])
def test_an_end_with_less_than_three_collections_has_one_more(suspicion, collections, is_wanted):
    """A little above the level of the last: with two censuses taken, nothing else asks for it."""
    for ordinal in range(8):
        suspicion.wants_collection(0, ordinal, (200 + 8 * ordinal) * MIB)
    for _ in range(collections):
        suspicion.collected(0, 256 * MIB)
    suspicion.census_taken(0, 220 * MIB)
    suspicion.census_taken(0, 256 * MIB)

    assert suspicion.wants_collection(0, 8, 258 * MIB, at_end=True) is is_wanted


def test_the_end_is_right_after_the_last_round_and_shows_no_rise_of_its_own(suspicion):
    for ordinal in range(6):
        suspicion.wants_collection(0, ordinal, 200 * MIB + MIB * ordinal)

    assert suspicion.wants_collection(0, 5, 205 * MIB, at_end=True)


def test_a_very_long_rise_is_collected_a_few_dozen_times():
    assert len(collections_in([200 * MIB + MIB * i for i in range(100_000)])) < 20


# A census comes after a collection that did not free what has risen.


def censuses_in(levels, *, after=lambda level: level):
    """Feed the marks of one unit, with the end of its loop; where a census was wanted."""
    suspicion, at, last = a_suspicion(), [], len(levels) - 1
    for ordinal, level in enumerate(levels):
        if suspicion.wants_collection(0, ordinal, level, at_end=ordinal == last):
            held = after(level)
            suspicion.collected(0, held)
            if suspicion.wants_census(0, held):
                suspicion.census_taken(0, held)
                at.append(ordinal)
    return at


def rising(rounds, mib=1.0):
    return [200 * MIB + round(mib * MIB * ordinal) for ordinal in range(rounds)]


def test_a_flat_run_has_no_census():
    assert censuses_in([200 * MIB] * 1000) == []


def test_a_run_whose_rise_was_garbage_has_no_census():
    assert censuses_in(rising(300), after=lambda _: 200 * MIB) == []


def test_a_rising_run_has_five_censuses_and_no_more_however_long_it_is():
    assert len(censuses_in(rising(80))) == 5
    assert len(censuses_in(rising(100_000))) == 5


def test_the_second_census_comes_soon_and_the_later_ones_are_spread():
    first, second, *later = censuses_in(rising(200))

    assert 3 <= second - first <= 6
    gaps = [after - before for before, after in itertools.pairwise([second, *later])]
    assert gaps == sorted(gaps)


@pytest.mark.parametrize("rounds", [7, 8, 10, 12])
def test_a_short_run_still_has_two_censuses(rounds):
    at = censuses_in(rising(rounds, mib=2))

    assert len(at) >= 2
    assert at[-1] >= rounds - 5


def test_a_rise_that_stops_has_no_more_censuses():
    at = censuses_in([200 * MIB + MIB * min(ordinal, 12) for ordinal in range(500)])

    assert 1 <= len(at) <= 3
    assert at[-1] <= 17


@pytest.fixture
def risen(suspicion):
    """One that has seen unit 0 and unit 1 rise from 200 MiB to 228, and collected, in round 7."""
    for ordinal in range(8):
        for unit in (0, 1):
            suspicion.wants_collection(unit, ordinal, 200 * MIB + 4 * MIB * ordinal)
    suspicion.collected(0, 228 * MIB)
    return suspicion


@pytest.mark.parametrize(
    ("held_mib", "expected"), [(200, False), (204.2, False), (204.6, True), (228, True)]
)
def test_the_first_census_needs_a_rise_that_was_not_garbage(risen, held_mib, expected):
    """The first round trip is warm-up: what the second one held, 204 MiB, is the measure."""
    assert risen.wants_census(0, round(held_mib * MIB)) is expected


def test_the_second_census_needs_some_growth(risen):
    risen.census_taken(0, 228 * MIB)

    assert not risen.wants_census(0, round(228.4 * MIB), at_end=True)
    assert risen.wants_census(0, round(228.6 * MIB), at_end=True)


def test_the_second_census_needs_more_growth_before_the_end(risen):
    risen.census_taken(0, 228 * MIB)

    assert not risen.wants_census(0, 231 * MIB)
    assert risen.wants_census(0, 232 * MIB)


def test_a_census_that_starts_over_is_the_first_again(risen):
    """It can be compared with none before it: the next one is needed as a second is."""
    risen.census_taken(0, 228 * MIB)
    risen.census_taken(0, 238 * MIB)
    assert not risen.lacks_a_census

    risen.started_over(238 * MIB)

    assert risen.lacks_a_census
    assert risen.wants_census(0, 242 * MIB)


def test_a_later_census_needs_twice_the_growth(risen):
    risen.census_taken(0, 228 * MIB)
    risen.census_taken(0, 238 * MIB)

    assert not risen.wants_census(0, 247 * MIB)
    assert risen.wants_census(0, 248 * MIB)


def test_there_is_no_sixth_census(risen):
    for grown in range(5):
        risen.census_taken(0, (228 << grown) * MIB)

    assert not risen.wants_census(0, (228 << 6) * MIB)


def test_a_collection_for_a_census_is_left_to_the_place_of_the_last_one(risen):
    """Elsewhere other functions run, and what they hold would look like growth."""
    risen.census_taken(0, 228 * MIB)
    for ordinal in range(8, 13):
        assert not risen.wants_collection(1, ordinal, (200 + 4 * ordinal) * MIB), ordinal
        assert not risen.wants_collection(0, ordinal, (200 + 4 * ordinal) * MIB), ordinal

    assert not risen.wants_collection(1, 13, 252 * MIB)
    assert risen.wants_collection(0, 13, 252 * MIB)


def test_a_place_that_does_not_come_again_gives_way_to_another(risen):
    risen.census_taken(0, 228 * MIB)
    risen.wants_collection(0, 8, 232 * MIB)
    wanted = [
        ordinal
        for ordinal in range(8, 40)
        if risen.wants_collection(1, ordinal, (200 + 4 * ordinal) * MIB)
    ]

    assert wanted
    assert wanted[0] >= 14


def test_the_end_of_a_loop_is_collected_for_the_second_census_anywhere(risen):
    risen.census_taken(0, 228 * MIB)

    assert not risen.wants_collection(1, 8, 232 * MIB)
    assert risen.wants_collection(1, 8, 232 * MIB, at_end=True)


def test_an_end_right_after_a_collection_lacks_only_the_second_census(risen):
    assert not risen.lacks_only_a_census(228 * MIB)
    risen.census_taken(0, 220 * MIB)

    assert risen.lacks_only_a_census(228 * MIB)
    assert not risen.lacks_only_a_census(229 * MIB)
