"""What is read off the pieces: the present, what came before, jumps, falls and the tail."""

import numpy as np
import pytest

from lowwater.verdict.account import account_of, evened, opened
from lowwater.verdict.series import Series

MIB = float(1 << 20)
ROUNDS = np.arange(24.0)


def marks(mib, x=None):
    rounds = np.arange(3.0, 3 + len(mib)) if x is None else np.asarray(x, dtype=np.float64)
    return Series(rounds, (200 + np.asarray(mib, dtype=np.float64)) * MIB)


def test_line_is_all_present_and_rises():
    account = account_of(marks(4 * ROUNDS))

    assert account.is_rising
    assert len(account.present) == 24
    assert account.rate_before is None
    assert account.growth.slope == pytest.approx(4 * MIB)


def test_level_does_not_rise():
    assert not account_of(marks(0 * ROUNDS)).is_rising


def test_present_of_a_full_cache_is_its_level():
    account = account_of(marks(np.minimum(5 * ROUNDS, 50)))

    assert not account.is_rising
    assert account.begins == pytest.approx(13, abs=1)
    assert account.rate_before == pytest.approx(5 * MIB, rel=0.1)
    assert account.gained == pytest.approx(50 * MIB, rel=0.1)


def test_present_of_a_late_ramp_is_the_ramp():
    account = account_of(marks(np.maximum(4 * (ROUNDS - 12), 0)))

    assert account.is_rising
    assert account.begins == pytest.approx(15, abs=1)
    assert account.rate_before == pytest.approx(0, abs=0.4 * MIB)


def test_jump_is_taken_out_of_a_line():
    account = account_of(marks(4 * ROUNDS + 60 * (ROUNDS >= 10)))

    assert len(account.present) == 24
    assert np.diff(account.present.y) == pytest.approx(4 * MIB, rel=0.01)
    [jump] = account.jumps
    assert (jump.round, jump.size) == (13, pytest.approx(60 * MIB, rel=0.05))


def test_last_mark_that_is_off_the_line_is_a_tail():
    account = account_of(marks([*4 * ROUNDS, 200]))

    assert 1 <= len(account.tail) <= 2
    assert account.growth.slope == pytest.approx(4 * MIB)


def test_two_marks_that_span_most_of_the_run_are_no_tail():
    """A fast loop is sampled ever more rarely."""
    dense, sparse = np.arange(1.0, 30), np.array([2000.0, 5000.0])
    x = np.concatenate((dense, sparse))

    assert len(account_of(marks(0.3 * x * (x < 100) + 0.25 * x * (x >= 100), x)).tail) == 0


def test_sawtooth_has_low_points():
    account = account_of(marks(10 * (ROUNDS % 6)))

    assert account.fell
    assert account.lows_are_level
    assert account.lows.x.tolist() == [9, 15, 21]


def test_memory_that_came_back_and_stayed_did_not_rise_again():
    assert not account_of(marks(40.0 * (ROUNDS < 10))).fell


def test_staircase_is_a_line_at_a_coarser_scale():
    rounds = np.arange(40.0)
    account = account_of(marks(16 * (rounds // 6)))

    assert account.stretch > 1
    assert account.is_rising
    assert account.growth.slope == pytest.approx(16 * MIB / 6, rel=0.1)


def test_spike_is_no_low_water():
    assert opened(marks([0, 1, 0, 60, 1, 0, 1])).y.max() == pytest.approx(201 * MIB)


def test_level_that_stays_is_not_cut_down():
    assert opened(marks([0, 1, 0, 60, 61, 60, 61])).y.max() == pytest.approx(261 * MIB)


def test_rate_of_a_dense_beginning_does_not_outweigh_the_rest():
    """128 rounds one by one, then every 8th: the first add twice as much each."""
    x = np.concatenate((np.arange(1.0, 129), np.arange(136.0, 1600, 8)))
    y = np.where(x <= 128, 0.2 * x, 25.6 + 0.12 * (x - 128))

    account = account_of(marks(y, x))

    assert account.growth.slope == pytest.approx(0.12 * MIB, rel=0.05)


def test_marks_that_are_even_stay_as_they_are():
    even = marks(ROUNDS)

    assert evened(even) is even
