"""Which growth matters, and how many rounds it takes to be sure."""

import numpy as np
import pytest

from lowwater.verdict.growth import is_enough, is_material, regular, rounds_to_certainty
from lowwater.verdict.series import Series
from lowwater.verdict.trend import Trend

KIB, MIB = 1 << 10, 1 << 20


def growth(low, slope, high):
    return Trend(slope, low, high, 0.0)


@pytest.mark.parametrize(
    ("found", "rounds"),
    [
        (growth(0.5 * MIB, MIB, 1.5 * MIB), 10),
        (growth(100 * KIB, 150 * KIB, 200 * KIB), 60),
        (growth(3 * KIB, 4 * KIB, 5 * KIB), 5000),
    ],
    ids=["large", "as small as a leak can be", "small, but adds up"],
)
def test_growth_that_matters(found, rounds):
    assert is_material(found, rounds)


@pytest.mark.parametrize(
    ("found", "rounds"),
    [
        (growth(0.3 * MIB, MIB, 1.7 * MIB), 10),
        (growth(150 * KIB, 160 * KIB, 170 * KIB), 20),
        (growth(90 * KIB, 100 * KIB, 300 * KIB), 20),
        (growth(3 * KIB, 4 * KIB, 5 * KIB), 500),
    ],
    ids=["not clear of its noise", "as large as an innocent's", "small", "does not add up"],
)
def test_growth_that_does_not_matter(found, rounds):
    assert not is_material(found, rounds)


def marks(*mib):
    return Series(np.arange(1.0, 1 + len(mib)), np.array(mib, dtype=np.float64) * MIB)


def test_growth_is_regular_within_a_factor_of_two():
    assert regular(marks(0, 2, 3, 6, 8))
    assert not regular(marks(0, 2, 2.5, 6, 8))
    assert not regular(marks(8, 6, 4, 2))
    assert not regular(marks(1))


def test_few_rounds_are_enough_for_large_or_regular_growth_only():
    uneven, even = marks(0, 0.1, 0.9, 1.0, 1.1), marks(0, 0.3, 0.6, 0.9, 1.2)
    small, large = growth(0.2 * MIB, 0.3 * MIB, 0.4 * MIB), growth(MIB, 2 * MIB, 3 * MIB)

    assert is_enough(even, small, 6)
    assert is_enough(uneven, large, 6)
    assert not is_enough(uneven, small, 6)
    assert not is_enough(even, large, 5)
    assert is_enough(uneven, small, 12)


def test_the_noisier_the_marks_the_more_rounds_are_asked_for():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=12)
    quiet, loud = marks(*(np.arange(12) + noise / 4)), marks(*(np.arange(12) + 10 * noise))

    assert rounds_to_certainty(quiet, MIB) == 0
    assert 5 < rounds_to_certainty(loud, MIB) < 40
    assert rounds_to_certainty(loud, 0.001 * MIB) == 200
