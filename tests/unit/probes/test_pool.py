"""The size of TensorFlow's pool is followed by malloc's jumps, and arrays are not taken for it."""

import random

from lowwater.probes.pool import PoolSize, doubled_regions

MIB = 1 << 20


class Pool:
    """The growth rule of TensorFlow's BFC allocator, for held tensors of one size."""

    def __init__(self):
        self.size, self.next_region, self.in_use = 0, 2 * MIB, 0

    def hold(self, size):
        self.in_use += size
        if self.in_use > self.size:
            is_larger = size > self.next_region
            while size > self.next_region:
                self.next_region *= 2
            self.size += self.next_region
            if not is_larger:
                self.next_region *= 2


def test_a_pool_seen_for_the_first_time_has_doubled_up_to_its_peak():
    assert doubled_regions(102 * MIB) == (126 * MIB, 64 * MIB)
    assert doubled_regions(208 * MIB) == (254 * MIB, 128 * MIB)
    assert PoolSize().add(500 * MIB, 102 * MIB) == 126 * MIB


def test_an_unused_pool_has_no_size():
    assert PoolSize().add(500 * MIB, 0) == 0


def test_a_leak_of_tensors_is_followed_through_all_regions():
    noise = random.Random(3)
    pool, estimate, errors = Pool(), PoolSize(), []
    for step in range(200):
        pool.hold(MIB)
        others = 70 * MIB + 20_000 * step + noise.randrange(5_000)
        errors.append(estimate.add(others + pool.size, pool.in_use) - pool.size)

    assert set(errors[1:]) == {errors[0]}


def test_a_large_first_tensor_is_followed_too():
    pool, estimate, errors = Pool(), PoolSize(), []
    for _ in range(30):
        pool.hold(40 * MIB)
        errors.append(estimate.add(70 * MIB + pool.size, pool.in_use) - pool.size)

    assert max(errors) - min(errors) <= 2 * MIB


def test_arrays_of_a_regions_size_are_not_taken_for_regions():
    estimate = PoolSize()
    sizes = [
        estimate.add(100 * MIB + step * (4 * MIB + 4096), 3 * MIB + step * 1000)
        for step in range(20)
    ]

    assert sizes[-1] - sizes[0] <= 8 * MIB


def test_an_array_smaller_than_the_last_region_is_not_taken_for_one():
    estimate = PoolSize()
    before = estimate.add(100 * MIB, 5 * MIB)  # 2 + 4 MiB: the next region has 8

    assert estimate.add(102 * MIB + 4096, 5 * MIB + 1000) == before
    assert estimate.add(110 * MIB + 4096, 7 * MIB) == before + 8 * MIB


def test_a_jump_of_malloc_without_a_new_peak_is_the_programs_own():
    estimate = PoolSize()
    before = estimate.add(100 * MIB, 3 * MIB)

    assert estimate.add(164 * MIB, 3 * MIB) == before
