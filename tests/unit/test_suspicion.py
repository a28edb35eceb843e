"""Collections and censuses are for rising runs only."""

import itertools
import random

import pytest

from lowwater.suspicion import Suspicion

MIB = 1 << 20


def collections_in(levels, every_s=1.0):
    """Feed the marks of one unit; the ordinals at which a collection was wanted."""
    suspicion, at = Suspicion(), []
    for ordinal, level in enumerate(levels):
        if suspicion.wants_collection(0, level, ordinal * every_s):
            at.append(ordinal)
            suspicion.collected(0, level, ordinal * every_s, took_s=0.2)
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


def test_a_run_that_only_jumps_at_its_start_is_never_collected():
    assert collections_in([100 * MIB, 150 * MIB, *[180 * MIB] * 50]) == []


def test_a_jump_between_tiny_rises_is_never_collected():
    wobble = [200.0, 200.01, 201.3, 201.31, 201.32, 201.33, 200.0, 200.02]

    assert collections_in([round(mib * MIB) for mib in wobble * 50]) == []


def test_a_steady_rise_is_collected_at_spread_out_boundaries():
    at = collections_in([200 * MIB + MIB * i for i in range(60)])

    assert at[0] <= 5
    assert 5 <= len(at) <= 12
    assert at[-1] >= 40
    gaps = [later - earlier for earlier, later in itertools.pairwise(at)]
    assert gaps == sorted(gaps)


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


def test_two_units_that_rise_together_share_their_collections():
    suspicion, count = Suspicion(), 0
    for ordinal in range(30):
        for unit in (0, 1):
            level = 200 * MIB + 4 * MIB * ordinal + unit * 1000
            if suspicion.wants_collection(unit, level, ordinal):
                suspicion.collected(unit, level, ordinal, took_s=0.1)
                count += 1

    assert count <= 10


def test_the_end_of_a_loop_may_collect_before_its_time():
    suspicion = Suspicion()
    for ordinal in range(20):
        level = 200 * MIB + 4 * MIB * ordinal
        if suspicion.wants_collection(0, level, ordinal * 0.01):
            suspicion.collected(0, level, ordinal * 0.01, took_s=0.05)

    assert not suspicion.wants_collection(0, 300 * MIB, 0.21)
    assert suspicion.wants_collection(0, 300 * MIB, 0.21, at_end=True)


def fast_garbage(rounds, fall_back=True):
    """An inner loop that ends every 15 ms; the collector takes all that it has added, or none."""
    suspicion, level, count = Suspicion(), 200 * MIB, 0
    for ordinal in range(rounds):
        level += MIB
        at_s = 0.015 * ordinal
        if suspicion.wants_collection(0, level, at_s, at_end=True):
            count += 1
            level = 200 * MIB if fall_back else level
            suspicion.collected(0, level, at_s, took_s=0.15)
            if suspicion.wants_census(0, ordinal, level, at_s, at_end=True):
                suspicion.census_taken(0, ordinal, level, at_s)
    return count


def test_loops_that_end_often_do_not_collect_each_time():
    assert fast_garbage(40) <= 4
    assert fast_garbage(40, fall_back=False) <= 8


def test_a_rise_after_the_last_collection_is_tested_at_its_end():
    """Collections in the warm-up of an outer loop say nothing about its rise."""
    suspicion = Suspicion()
    for ordinal in range(8):
        suspicion.wants_collection(0, 200 * MIB + 200_000 * ordinal, 0.001 * ordinal)
    suspicion.collected(0, 201 * MIB, 0.008, took_s=0.15)
    for ordinal in range(20):
        level = 201 * MIB + MIB * ordinal
        assert not suspicion.wants_collection(1, level, 0.01 + 0.001 * ordinal)

    assert suspicion.wants_collection(1, 222 * MIB, 0.031, at_end=True)


def test_the_end_is_right_after_the_last_round_and_shows_no_rise_of_its_own():
    suspicion = Suspicion()
    for ordinal in range(6):
        suspicion.wants_collection(0, 200 * MIB + MIB * ordinal, 0.01 * ordinal)
    suspicion.collected(0, 205 * MIB, 0.05, took_s=0.15)
    for ordinal in range(20):
        assert not suspicion.wants_collection(1, 206 * MIB + MIB * ordinal, 0.06 + 0.01 * ordinal)

    assert suspicion.wants_collection(1, 225 * MIB, 0.27, at_end=True)


def test_a_very_long_rise_is_collected_a_few_dozen_times():
    assert len(collections_in([200 * MIB + MIB * i for i in range(100_000)])) < 50


def test_collecting_takes_at_most_a_fifth_of_a_short_run():
    at = collections_in([200 * MIB + MIB * i for i in range(200)], every_s=0.01)

    assert len(at) <= 2


# A census comes after a collection that did not free what has risen.


def censuses_in(levels, every_s=1.0, *, at_end=True, after=lambda level: level):
    """Feed the marks of one unit; the ordinals at which a census was wanted."""
    suspicion, at, last = Suspicion(), [], len(levels) - 1
    for ordinal, level in enumerate(levels):
        ends = at_end and ordinal == last
        if suspicion.wants_collection(0, level, ordinal * every_s, at_end=ends):
            held = after(level)
            suspicion.collected(0, held, ordinal * every_s, took_s=0.01)
            if suspicion.wants_census(0, ordinal, held, ordinal * every_s, at_end=ends):
                suspicion.census_taken(0, ordinal, held, ordinal * every_s)
                at.append(ordinal)
    return at


def rising(rounds, mib=1.0):
    return [200 * MIB + round(mib * MIB * ordinal) for ordinal in range(rounds)]


def test_a_flat_run_has_no_census():
    assert censuses_in([200 * MIB] * 1000) == []


def test_a_run_whose_rise_was_garbage_has_no_census():
    assert censuses_in(rising(300), after=lambda _: 200 * MIB) == []


def test_a_rising_run_has_five_censuses_and_no_more_however_long_it_is():
    assert len(censuses_in(rising(50))) in (4, 5)
    assert len(censuses_in(rising(100_000))) == 5


def test_the_second_census_comes_soon_and_the_later_ones_are_spread():
    first, second, *later = censuses_in(rising(200))

    assert 3 <= second - first <= 6
    gaps = [after - before for before, after in itertools.pairwise([second, *later])]
    assert gaps == sorted(gaps)


def test_a_short_run_still_has_two_censuses():
    for rounds in (7, 8, 10, 12):
        at = censuses_in(rising(rounds, mib=2))

        assert len(at) >= 2, rounds
        assert at[-1] >= rounds - 4


def test_a_rise_that_stops_has_no_more_censuses():
    at = censuses_in([200 * MIB + MIB * min(ordinal, 12) for ordinal in range(500)])

    assert 1 <= len(at) <= 3
    assert at[-1] <= 13


@pytest.fixture
def suspicion():
    """One that has seen unit 0 and unit 1 rise from 200 MiB, and collected, but no census yet."""
    seen = Suspicion()
    for ordinal in range(8):
        for unit in (0, 1):
            seen.wants_collection(unit, 200 * MIB + 4 * MIB * ordinal, ordinal * 10.0)
    seen.collected(0, 228 * MIB, 70.0, took_s=0.1)
    return seen


@pytest.mark.parametrize(
    ("held_mib", "expected"), [(200, False), (204.2, False), (204.6, True), (228, True)]
)
def test_the_first_census_needs_a_rise_that_was_not_garbage(suspicion, held_mib, expected):
    """The first round trip is warm-up: what the second one held, 204 MiB, is the measure."""
    assert suspicion.wants_census(0, 8, round(held_mib * MIB), 71.0) is expected


def table_row(  # noqa: PLR0913 - the columns of a table
    name, expected, *, taken=1, unit=0, later=3, grown_mib=8.0, after_s=20.0, end=False
):
    return pytest.param(expected, taken, unit, later, grown_mib, after_s, end, id=name)


@pytest.mark.parametrize(
    ("expected", "taken", "unit", "later", "grown_mib", "after_s", "end"),
    [
        table_row("the second after three rounds", True),
        table_row("the second not after two", False, later=2),
        table_row("but at the end of a loop", True, later=1, end=True),
        table_row("not without growth", False, grown_mib=0.4),
        table_row("not even at the end", False, grown_mib=0.4, end=True),
        table_row("the second not at another place", False, unit=1),
        table_row("unless that is the last chance", True, unit=1, end=True),
        table_row("the third not before its time", False, taken=2, after_s=30.0),
        table_row("the third in its time", True, taken=2, after_s=40.0),
        table_row("the third at the end at any time", True, taken=2, end=True),
        table_row("the third not at another place", False, taken=2, unit=1, after_s=900.0),
        table_row("the fifth", True, taken=4, after_s=900.0),
        table_row("no sixth", False, taken=5, after_s=9000.0, end=True),
    ],
)
def test_when_the_next_census_is_due(  # noqa: PLR0913, PLR0917 - the columns of a table
    suspicion, expected, taken, unit, later, grown_mib, after_s, end
):
    """`taken` censuses so far, the last in round 8 of unit 0, 70 seconds after the first mark."""
    for _ in range(taken):
        suspicion.census_taken(0, 8, 228 * MIB, 70.0)

    held = round((228 + grown_mib) * MIB)
    assert suspicion.wants_census(unit, 8 + later, held, 70.0 + after_s, at_end=end) is expected


def test_a_place_that_does_not_come_again_gives_way_to_another(suspicion):
    suspicion.census_taken(0, 8, 228 * MIB, 70.0)
    wanted = [
        suspicion.wants_census(1, 9 + passed, (236 + passed) * MIB, 80.0 + passed)
        for passed in range(3)
    ]

    assert wanted == [False, False, True]


def test_a_census_at_the_same_place_begins_the_count_of_others_anew(suspicion):
    suspicion.census_taken(0, 8, 228 * MIB, 70.0)
    suspicion.wants_census(1, 9, 236 * MIB, 80.0)
    suspicion.wants_census(1, 10, 240 * MIB, 81.0)
    suspicion.census_taken(0, 11, 244 * MIB, 90.0)

    assert not suspicion.wants_census(1, 12, 260 * MIB, 900.0)


def test_the_end_of_a_loop_is_collected_for_the_second_census(suspicion):
    suspicion.census_taken(0, 8, 228 * MIB, 70.0)

    assert suspicion.wants_collection(0, 240 * MIB, 70.01, at_end=True)
    suspicion.census_taken(0, 9, 240 * MIB, 70.01)
    suspicion.collected(0, 240 * MIB, 70.01, took_s=0.1)
    assert not suspicion.wants_collection(0, 250 * MIB, 70.02, at_end=True)


def test_a_census_with_less_than_twice_the_growth_would_tell_nothing_new(suspicion):
    suspicion.census_taken(0, 8, 228 * MIB, 70.0)
    suspicion.census_taken(0, 12, 238 * MIB, 80.0)

    assert not suspicion.wants_census(0, 40, 247 * MIB, 900.0)
    assert not suspicion.wants_census(0, 40, 247 * MIB, 900.0, at_end=True)
    assert suspicion.wants_census(0, 40, 248 * MIB, 900.0)
    assert suspicion.wants_census(0, 14, 248 * MIB, 81.0, at_end=True)
    assert not suspicion.wants_census(0, 14, 248 * MIB, 81.0)


def test_with_much_growth_the_second_census_is_taken_anywhere(suspicion):
    suspicion.census_taken(0, 8, 228 * MIB, 70.0)

    assert not suspicion.wants_census(1, 9, 240 * MIB, 80.0)
    assert suspicion.wants_census(1, 10, 260 * MIB, 81.0)
