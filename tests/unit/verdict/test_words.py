"""How a verdict speaks of units."""

import pytest

from lowwater.model import Unit
from lowwater.verdict import words
from lowwater.verdict.trend import Trend


@pytest.mark.parametrize(
    ("unit", "one", "three"),
    [
        (Unit(1, "epoch"), "1 epoch", "3 epochs"),
        (Unit(1, "fit"), "1 fit call", "3 fit calls"),
        (Unit(1, "predict", "serve.py:4"), "1 predict call", "3 predict calls"),
        (Unit(1, "model"), "1 model built", "3 models built"),
        (Unit(1, "session"), "1 session opened", "3 sessions opened"),
        (Unit(1, "time"), "1 second", "3 seconds"),
        (Unit(1, "episode"), "1 episode", "3 episodes"),
        (Unit(1, "iteration", "a.py:2"), "1 iteration", "3 iterations of the loop at a.py:2"),
    ],
)
def test_units_are_counted_in_words(unit, one, three):
    assert words.counted(1, unit) == one
    assert words.counted(3, unit) == three


def test_more_of_a_loop_are_counted_without_its_line():
    assert words.counted(3, Unit(1, "iteration", "a.py:2"), "more") == "3 more iterations"


@pytest.mark.parametrize(
    ("low", "slope", "high", "text"),
    [
        (3.9, 4.0, 4.1, "3.9 … 4.1"),
        (0.5, 1.0, 1.5, "512.0 KiB … 1.5 MiB"),
        (-1.0, 2.0, 5.0, "-1.0 … 5.0"),
    ],
)
def test_an_interval_repeats_no_unit(low, slope, high, text):
    mib = 1 << 20

    assert words.between(Trend(slope * mib, low * mib, high * mib, 0.0)) == text
