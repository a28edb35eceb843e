"""Collections are for rising runs only."""

import itertools
import random

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


def test_a_very_long_rise_is_collected_a_few_dozen_times():
    assert len(collections_in([200 * MIB + MIB * i for i in range(100_000)])) < 50


def test_collecting_takes_at_most_a_fifth_of_a_short_run():
    at = collections_in([200 * MIB + MIB * i for i in range(200)], every_s=0.01)

    assert len(at) <= 2
