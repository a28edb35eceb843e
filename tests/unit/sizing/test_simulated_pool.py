"""The pool of arithmetic keeps the rules of TensorFlow's."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lowwater.sizing.simulated_pool import SimulatedPool

MIB = 1 << 20
KIB = 1 << 10


def test_sizes_are_rounded_up_to_256_bytes():
    pool = SimulatedPool()
    pool.allocate(1)
    pool.allocate(257)

    assert pool.in_use_bytes == 256 + 512


def test_smallest_chunk_that_is_large_enough_is_given_out_whole_if_it_is_not_twice_as_large():
    pool = SimulatedPool()
    first, _, third, _ = (pool.allocate(size) for size in (100 * KIB, 256, 150 * KIB, 256))
    pool.give_back(first)
    pool.give_back(third)

    assert pool.allocate(90 * KIB).address == first.address
    assert pool.allocate(80 * KIB).size == 150 * KIB


def test_chunk_that_is_twice_as_large_is_split_and_joined_again():
    pool = SimulatedPool()
    first, _ = pool.allocate(200 * KIB), pool.allocate(256)
    pool.give_back(first)
    half = pool.allocate(100 * KIB)

    assert half.size == 100 * KIB
    pool.give_back(half)
    assert pool.allocate(200 * KIB).address == first.address


def test_more_than_128_mib_is_never_left_over():
    pool = SimulatedPool()
    large = pool.allocate(400 * MIB)
    pool.give_back(large)

    # The region is of 512 MiB.
    assert pool.allocate(300 * MIB).size == 300 * MIB


def test_limit_is_met():
    pool = SimulatedPool(10 * MIB)
    # The region is of 8 MiB, and given out whole.
    pool.allocate(6 * MIB)

    with pytest.raises(MemoryError):
        pool.allocate(3 * MIB)
    pool.allocate(2 * MIB)


def test_what_was_given_out_before_has_left_room_in_the_largest_region_only():
    pool = SimulatedPool(before_bytes=17 * MIB)

    # Regions of 2, 4, 8 and 16 MiB; 13 are free, all in the last one.
    assert pool.in_use_bytes == 0
    assert pool.allocate(12 * MIB).size == 13 * MIB
    assert pool._taken == 30 * MIB
    assert pool.allocate(MIB).size == MIB
    assert pool._taken == 62 * MIB


def test_limit_counts_what_was_given_out_before():
    pool = SimulatedPool(20 * MIB, before_bytes=17 * MIB)

    pool.allocate(3 * MIB)
    with pytest.raises(MemoryError):
        pool.allocate(256)
    with pytest.raises(MemoryError):
        SimulatedPool(20 * MIB, before_bytes=21 * MIB)


@given(st.lists(st.tuples(st.integers(1, 5 * MIB), st.booleans(), st.integers(0, 99)), max_size=80))
def test_nothing_is_lost_and_no_two_chunks_overlap(orders):
    pool = SimulatedPool()
    held = []
    for size, gives_back, which in orders:
        if gives_back and held:
            pool.give_back(held.pop(which % len(held)))
        else:
            held.append(pool.allocate(size))
            assert held[-1].size >= size
        spans = sorted((one.address, one.address + one.size) for one in held)
        assert all(end <= begin for (_, end), (begin, _) in pairwise(spans))
        assert pool.in_use_bytes == sum(one.size for one in held)
    for chunk in held:
        pool.give_back(chunk)
    # All is free, one chunk for each region.
    assert all(one.before is one.after is None for one in pool._chunks.values())
    assert sum(one.size for one in pool._chunks.values()) == pool._taken
