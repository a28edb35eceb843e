"""Which growth matters, and how many rounds it takes to be sure."""

import numpy as np
import pytest

from lowwater.verdict.growth import is_regular, matters, rounds_to_certainty
from lowwater.verdict.series import Series
from lowwater.verdict.trend import Trend

KIB, MIB = 1 << 10, 1 << 20


def growth(rate):
    return Trend(rate, rate, rate, 0.0)


@pytest.mark.parametrize(
    ("rate", "rounds", "expected"),
    [
        (MIB, 10, True),
        (42 * KIB, 60, True),
        (42 * KIB, 400, True),
        (42 * KIB, 12, False),
        (KIB, 5000, False),
        (KIB, 50_000, True),
    ],
    ids=["large", "slow", "slow and long", "too early", "a few numbers", "numbers that add up"],
)
def test_growth_matters_by_its_rate_once_it_can_be_seen(rate, rounds, expected):
    assert matters(growth(rate), rounds) is expected


def marks(*mib):
    return Series(np.arange(1.0, 1 + len(mib)), np.array(mib, dtype=np.float64) * MIB)


def test_growth_is_regular_within_a_factor_of_two():
    assert is_regular(marks(0, 2, 3, 6, 8))
    assert not is_regular(marks(0, 2, 2.5, 6, 8))
    assert not is_regular(marks(8, 6, 4, 2))
    assert not is_regular(marks(1))


def test_the_noisier_the_marks_the_more_rounds_are_asked_for():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=12)
    quiet, loud = marks(*(np.arange(12) + noise / 4)), marks(*(np.arange(12) + 10 * noise))

    assert rounds_to_certainty(quiet, MIB) == 0
    assert 5 < rounds_to_certainty(loud, MIB) < 40
    assert rounds_to_certainty(loud, 0.001 * MIB) == 200
