"""Threads that work for the program are a round ahead of it, or behind: that is no change."""

import numpy as np
import pytest

from lowwater.model import Kind
from lowwater.testing import a_run
from lowwater.verdict import judge


def a_line_with(off, *, rounds=28, mib=2.0):
    """A leak that is off its line by so many rounds' worth from a round on, for one round each."""
    run = a_run(rounds).grows(mib=mib)
    for at, by in off.items():
        run = run.spikes(mib=by * mib, at=at)
    return judge(run.collects([4, 7, 13, 25]).timeline())[0]


@pytest.mark.parametrize(
    "off",
    [
        {16: -1.0, 25: -0.2, 26: -1.4, 27: -0.4, 28: -0.6},
        {22: -0.7, 23: 1.0, 24: 1.0, 25: 1.0, 26: 0.7, 28: -1.0},
        {9: 0.9, 24: -1.9, 25: -0.4, 28: 1.8},
    ],
    ids=["behind at the end", "ahead, then behind", "back and forth"],
)
def test_leak_whose_last_rounds_are_a_little_off_its_line_is_still_one(off):
    verdict = a_line_with(off)

    assert verdict.kind is Kind.LEAK
    assert verdict.growth_bytes_per_unit == pytest.approx(2 << 20, rel=0.1)


@pytest.mark.parametrize("until", [20, 22, 24])
def test_fill_that_stops_for_good_is_none(until):
    run = a_run(28).grows(mib=2, until=until).spikes(mib=-2, at=9).spikes(mib=1.5, at=15)

    assert judge(run.collects([4, 7, 13]).timeline())[0].is_leak is False


def test_kept_memory_that_grows_more_and_more_slowly_is_not_fragmented():
    """Fifty tensors made and dropped in each epoch: now and then malloc takes room for one more."""
    steps = np.array([210, 4, 4, 8, 0, 4, 4, 0, 4, 0, 0])
    run = a_run(12)
    for at, mib in enumerate(steps, start=2):
        run = run.jumps("heap_free", mib=float(mib), at=at)

    assert judge(run.timeline())[0].kind is Kind.RESERVED
