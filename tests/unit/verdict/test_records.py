"""Kept memory that grows, told from kept memory that is the most that was ever needed."""

from math import factorial

import numpy as np
import pytest

from lowwater.model.policy import POLICY
from lowwater.verdict.records import chance_of_records, rises_beyond_records
from lowwater.verdict.series import Series

MIB = 1 << 20


def series_of(*mib):
    return Series(np.arange(len(mib), dtype=float), np.array(mib, dtype=float) * MIB)


def test_a_record_in_each_round_has_one_chance_in_all_orders():
    assert chance_of_records(5, 4) == pytest.approx(1 / factorial(5))


def test_no_record_at_all_is_no_news():
    assert chance_of_records(12, 0) == pytest.approx(1.0)


def test_chances_are_those_of_random_orders():
    random = np.random.default_rng(1)
    rounds, runs = 9, 4000
    orders = np.array([random.permutation(rounds) for _ in range(runs)])
    records = (np.diff(np.maximum.accumulate(orders, axis=1), axis=1) > 0).sum(axis=1)

    for least in range(1, 5):
        assert chance_of_records(rounds, least) == pytest.approx(
            np.mean(records >= least), abs=0.03
        )


def test_memory_that_is_kept_and_keeps_growing_rises():
    assert rises_beyond_records(series_of(*range(100, 160, 5)))


def test_records_of_a_need_that_varies_are_no_rise():
    # `tensors_dropped` on a busy machine: one tensor more at a time, now and then.
    kept = (212.8, 212.7, 221.1, 221.1, 225.3, 225.3, 237.9, 237.9, 237.9, 242.1, 242.1)

    assert not rises_beyond_records(series_of(*kept))


def test_needs_that_vary_are_rarely_taken_for_a_rise():
    random = np.random.default_rng(2)
    runs = [np.maximum.accumulate(random.normal(200, 20, 30)) for _ in range(300)]
    wrong = sum(rises_beyond_records(series_of(*run)) for run in runs)

    assert wrong <= 3 * POLICY.by_chance * len(runs)
