"""Regions of TensorFlow's pool are told from other aligned blocks by their sizes."""

import pytest

from lowwater.probes.region_sizes import regions_among

MIB = 1 << 20


def in_mib(*sizes):
    return [size * MIB for size in sizes]


def test_regions_are_powers_of_two():
    assert regions_among(in_mib(1, 4, 5, 64)) == in_mib(4, 64)


def test_a_third_region_of_one_size_is_somebody_elses():
    assert regions_among(in_mib(8, 8, 8)) == in_mib(8, 8)


def test_the_last_region_before_a_limit_takes_what_is_left_of_it():
    assert regions_among(in_mib(2, 4, 8, 16, 32, 38), 100 * MIB) == in_mib(2, 4, 8, 16, 32, 38)
    assert regions_among(in_mib(2, 4, 8, 16, 32, 38)) == in_mib(2, 4, 8, 16, 32)


def test_a_first_tensor_may_take_all_of_the_limit():
    assert regions_among(in_mib(100), 100 * MIB) == in_mib(100)


def test_what_is_left_is_known_though_small_regions_lie_in_the_heap():
    assert regions_among(in_mib(8, 16, 32, 38), 100 * MIB) == in_mib(8, 16, 32, 38)


def test_a_block_that_is_not_what_is_left_is_somebody_elses():
    assert regions_among(in_mib(32, 67, 5, 70), 100 * MIB) == in_mib(32)


@pytest.mark.parametrize(
    ("asked_mib", "times", "measured"),
    # Pages that malloc mapped for the pool under `ulimit -v`, with TensorFlow 2.21.
    [(64, 3, 48_922_624)],
)
def test_a_region_that_was_refused_is_less_by_tenths(asked_mib, times, measured):
    assert measured == pytest.approx(asked_mib * MIB * 0.9**times, abs=4096)
    sizes = [*in_mib(2, 4, 8, 16, 32), measured]

    assert regions_among(sizes, may_be_refused=True)[-1] == measured
    assert regions_among(sizes) == in_mib(2, 4, 8, 16, 32)


def test_hardly_any_array_is_taken_for_a_region_that_was_refused():
    arrays = [7 * MIB + number * 57 * 4096 for number in range(1000)]
    taken = regions_among([*in_mib(2, 4, 8, 16, 32), *arrays], may_be_refused=True)

    assert len(taken) - 5 <= 0.02 * len(arrays)
