"""The size of TensorFlow's pool is read, or follows malloc's jumps; arrays are not taken for it."""

import random

import pytest

from lowwater.probes.pool import PoolSize, doubled_regions

MIB = 1 << 20


class Pool:
    """The growth rule of TensorFlow's BFC allocator, for held tensors of one size."""

    def __init__(self, limit=1 << 40):
        self.size, self.next_region, self.in_use = 0, 2 * MIB, 0
        self.limit = limit

    def hold(self, size):
        self.in_use += size
        if self.in_use > self.size:
            is_larger = size > self.next_region
            while size > self.next_region:
                self.next_region *= 2
            self.size += min(self.next_region, self.limit - self.size)
            if not is_larger:
                self.next_region *= 2


def test_a_pool_seen_for_the_first_time_has_doubled_up_to_its_peak():
    assert doubled_regions(102 * MIB) == (126 * MIB, 64 * MIB)
    assert doubled_regions(208 * MIB) == (254 * MIB, 128 * MIB)
    assert PoolSize().add(0, 500 * MIB, 102 * MIB) == 126 * MIB


def test_an_unused_pool_has_no_size():
    assert PoolSize().add(0, 500 * MIB, 0) == 0


def test_a_leak_of_tensors_is_followed_through_all_regions():
    noise = random.Random(3)
    pool, estimate, errors = Pool(), PoolSize(), []
    for step in range(200):
        pool.hold(MIB)
        others = 70 * MIB + 20_000 * step + noise.randrange(5_000)
        errors.append(estimate.add(0, others + pool.size, pool.in_use) - pool.size)

    assert set(errors[1:]) == {errors[0]}


def test_a_large_first_tensor_is_followed_too():
    pool, estimate, errors = Pool(), PoolSize(), []
    for _ in range(30):
        pool.hold(40 * MIB)
        errors.append(estimate.add(0, 70 * MIB + pool.size, pool.in_use) - pool.size)

    assert max(errors) - min(errors) <= 2 * MIB


def test_arrays_of_a_regions_size_are_not_taken_for_regions():
    estimate = PoolSize()
    sizes = [
        estimate.add(0, 100 * MIB + step * (4 * MIB + 4096), 3 * MIB + step * 1000)
        for step in range(20)
    ]

    assert sizes[-1] - sizes[0] <= 8 * MIB


def test_an_array_smaller_than_the_last_region_is_not_taken_for_one():
    estimate = PoolSize()
    before = estimate.add(0, 100 * MIB, 5 * MIB)  # 2 + 4 MiB: the next region has 8

    assert estimate.add(0, 102 * MIB + 4096, 5 * MIB + 1000) == before
    assert estimate.add(0, 110 * MIB + 4096, 7 * MIB) == before + 8 * MIB


def test_a_jump_of_malloc_without_a_new_peak_is_the_programs_own():
    estimate = PoolSize()
    before = estimate.add(0, 100 * MIB, 3 * MIB)

    assert estimate.add(0, 164 * MIB, 3 * MIB) == before


class Regions:
    """Regions that can be read."""

    def __init__(self, *sizes):
        self.sizes = [*sizes]
        self.looks = 0

    def total_bytes(self, limit_bytes=None):
        self.looks += 1
        return sum(self.sizes)

    @property
    def largest_bytes(self):
        return max(self.sizes, default=0)


def test_regions_that_can_be_read_are_not_guessed():
    regions = Regions(1024 * MIB)  # the first tensor was large: nothing has doubled up to it
    size = PoolSize(regions)

    assert size.add(90 * MIB, 1200 * MIB, 1000 * MIB) == 1024 * MIB


def test_an_array_as_large_as_a_region_is_none_where_regions_can_be_read():
    regions = Regions(64 * MIB)
    size = PoolSize(regions)
    size.add(90 * MIB, 64 * MIB, 60 * MIB)

    assert size.add(90 * MIB, 192 * MIB, 61 * MIB) == 64 * MIB
    regions.sizes.append(128 * MIB)
    assert size.add(90 * MIB, 320 * MIB, 70 * MIB) == 192 * MIB


def test_a_pool_full_of_holes_grows_without_a_new_peak():
    regions = Regions(64 * MIB)
    size = PoolSize(regions)
    size.add(90 * MIB, 64 * MIB, 60 * MIB)
    regions.sizes.append(128 * MIB)

    assert size.add(90 * MIB, 192 * MIB, 60 * MIB) == 192 * MIB


def test_small_regions_in_the_heap_are_followed_by_its_jumps():
    size = PoolSize(Regions())

    assert size.add(96 * MIB, 0, 5 * MIB) == 6 * MIB
    assert size.add(104 * MIB, 0, 8 * MIB) == 14 * MIB
    assert size.add(104 * MIB, 16 * MIB, 9 * MIB) == 14 * MIB


def test_a_malloc_with_other_headers_is_followed_by_its_jumps():
    size = PoolSize(Regions())

    assert size.add(0, 500 * MIB, 102 * MIB) == 126 * MIB
    assert size.add(0, 628 * MIB, 130 * MIB) == 254 * MIB


@pytest.mark.parametrize("limit_mib", [64, 70, 80, 100, 250, 300])
def test_the_last_region_before_a_limit_is_followed(limit_mib):
    pool, estimate, errors = Pool(limit_mib * MIB), PoolSize(), []
    for _ in range(limit_mib - 2):
        pool.hold(MIB)
        errors.append(estimate.add(0, 70 * MIB + pool.size, pool.in_use, pool.limit) - pool.size)

    assert set(errors[1:]) == {errors[0]}


def test_an_array_is_not_taken_for_the_last_region_where_regions_can_be_read():
    regions = Regions(2 * MIB, 4 * MIB, 8 * MIB, 16 * MIB, 32 * MIB)
    size = PoolSize(regions)
    size.add(0, 62 * MIB, 60 * MIB, 100 * MIB)

    assert size.add(0, 100 * MIB, 61 * MIB, 100 * MIB) == 62 * MIB


def test_a_region_that_came_unseen_is_looked_for_once_the_peak_is_beyond_all_others():
    regions = Regions(64 * MIB)
    size = PoolSize(regions)
    for step in range(20):  # no look is left without a new peak
        size.add(90 * MIB, 64 * MIB + step * 100 * MIB, 60 * MIB)
    regions.sizes.append(38 * MIB)
    malloc = 64 * MIB + 20 * 100 * MIB
    assert size.add(90 * MIB, malloc, 60 * MIB, 102 * MIB) == 64 * MIB

    assert size.add(90 * MIB, malloc, 65 * MIB, 102 * MIB) == 102 * MIB


def test_regions_that_cannot_be_read_are_not_looked_for_at_each_new_peak():
    regions = Regions(64 * MIB)
    size = PoolSize(regions)
    for step in range(1, 65):
        size.add(90 * MIB, 64 * MIB, 64 * MIB + step * 4096)

    assert regions.looks <= 8


def test_looks_are_few_however_often_malloc_jumps():
    regions = Regions(2 * MIB)
    size = PoolSize(regions)
    for step in range(500):
        size.add(0, 100 * MIB + step * 4 * MIB, 1 * MIB + step)

    assert regions.looks == 40


def test_without_a_new_peak_looks_are_fewer():
    regions = Regions(2 * MIB)
    size = PoolSize(regions)
    for step in range(500):
        size.add(0, 100 * MIB + step * 4 * MIB, 1 * MIB)

    assert regions.looks == 8
