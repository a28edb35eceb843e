"""Steps are made while their highest peak still rises."""

import pytest

from lowwater.model.step_trace import StepTrace
from lowwater.sizing.backends import _rounds
from lowwater.sizing.backends._rounds import StepRounds


def made(peaks):
    rounds = StepRounds(None)
    for count, peak in enumerate(peaks, start=1):
        rounds.add(peak, None, 0.01)
        if rounds.are_enough:
            return count
    return None


def test_steady_peaks_need_few_steps():
    assert made([100] * 50) == 7


def test_rising_peaks_need_more():
    assert made([100, 100, 100, 100, 110, *[100] * 50]) == 11


def test_peaks_that_rise_without_end_come_to_one():
    assert made(range(100, 1000, 10)) == 40


def test_slow_steps_are_fewer(monkeypatch):
    now = iter(range(0, 1000, 5))
    monkeypatch.setattr(_rounds.time, "monotonic", lambda: next(now))

    assert made([100] * 50) == 3


def test_highest_counts():
    rounds = StepRounds(None)
    for peak in (3, 9, 5):
        rounds.add(peak, None, 0.5)

    told = rounds.told(32, "training")

    assert (told.peak_bytes, told.lowest_bytes, told.step_s) == (9, 3, pytest.approx(0.5))


def test_time_of_the_traced_step_does_not_count_though_all_others_were_watched():
    rounds = StepRounds(None)
    rounds.add(100, None, 9.0)
    for _ in range(2):
        rounds.add(100, StepTrace(0, ()), 0.5)

    assert rounds.told(32, "training").step_s == pytest.approx(0.5)
