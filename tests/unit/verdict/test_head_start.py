"""Threads of the program go on while we look, and are ahead of its rounds afterwards."""

from dataclasses import replace

import numpy as np
import pytest

from lowwater.model import Kind
from lowwater.testing import a_run
from lowwater.verdict import judge
from lowwater.verdict.head_start import is_ahead
from lowwater.verdict.series import Series

MIB = 1 << 20


def looked_at(rounds, *, at, ahead, until=99):
    """2 MiB a round until `until`; our look at round `at` lets threads do so many rounds' work."""
    made = np.arange(rounds + 1)
    done = np.minimum(np.where(made > at, np.maximum(made, at + ahead), made), until)
    run = a_run(rounds)
    for one, more in zip(made[1:], np.diff(done), strict=True):
        run = run.jumps(mib=2.0 * more, at=one)
    timeline = run.collects([4, 7, at]).timeline()
    *others, last = timeline.collections
    last = replace(last, after_bytes=last.before_bytes + 2 * MIB * ahead)
    return replace(timeline, collections=(*others, last))


@pytest.mark.parametrize("ahead", [1, 3, 5, 8])
def test_rounds_that_find_their_work_done_do_not_end_a_leak(ahead):
    verdict, _ = judge(looked_at(20, at=14, ahead=ahead))

    assert verdict.kind is Kind.LEAK
    assert verdict.growth_bytes_per_unit == pytest.approx(2 * MIB, rel=0.02)


def test_cache_that_our_look_let_fill_to_its_end_is_no_leak_once_its_rounds_are_over():
    verdict, _ = judge(looked_at(26, at=14, ahead=5, until=19))

    assert verdict.kind is Kind.CACHE


def ahead_after(pause, low, high, marks):
    x = np.arange(1, len(marks) + 1, dtype=np.float64)
    series = Series(x, np.array(marks, dtype=np.float64) * MIB)
    found = is_ahead(series, *(np.array([one]) for one in (pause, low * MIB, high * MIB)))
    return list(x[found])


def test_marks_are_ahead_until_the_program_would_have_grown_as_much():
    assert ahead_after(4.0, 8, 14, [2, 4, 6, 8, 14, 14, 14, 16]) == [5, 6]


def test_scan_after_the_collection_counts_as_well():
    assert ahead_after(4.0, 8, 10, [2, 4, 6, 8, 14, 14, 14, 16]) == [5, 6]


def test_collection_that_frees_gives_no_head_start():
    assert ahead_after(4.0, 8, 7, [2, 4, 6, 8, 9, 11, 13, 15]) == []


def test_level_program_cannot_be_ahead():
    assert ahead_after(4.0, 2, 6, [2, 2, 2, 2, 6, 6, 6, 6]) == []


def test_jump_beyond_all_that_came_by_rounds_is_no_head_start():
    assert ahead_after(4.0, 8, 40, [2, 4, 6, 8, 40, 42, 44, 46]) == []
